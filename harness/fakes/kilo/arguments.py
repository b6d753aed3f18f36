"""The command line of `kilo run`, as far as the stand-in understands it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

_WITH_VALUE = {
    "--model": "-m",
    "--dir": "",
    "--format": "",
    "--agent": "",
    "--title": "",
    "--session": "-s",
    "--file": "-f",
    "--command": "",
    "--attach": "",
    "--variant": "",
    "--port": "",
    "--log-level": "",
    "--password": "-p",
    "--username": "-u",
}
_SHORT = {short: long for long, short in _WITH_VALUE.items() if short} | {
    "-h": "--help",
    "-v": "--version",
    "-c": "--continue",
    "-i": "--interactive",
}


class Asked(NamedTuple):
    """What the command line says: options by their long names (True for one without a value), and the words."""

    command: str
    options: dict[str, str | bool]
    words: tuple[str, ...]
    after_dashes: tuple[str, ...]

    @property
    def all_words(self) -> tuple[str, ...]:
        """The words of the prompt."""
        return (*self.words, *self.after_dashes)

    def value(self, option: str) -> str:
        """The value of an option, empty when it was not given."""
        given = self.options.get(option, "")
        return given if isinstance(given, str) else ""


class BadArguments(Exception):
    """An option that this version does not have."""


def given(arguments: Sequence[str], *names: str) -> str | None:
    """The value of an option of one of these names, whatever other options the version has; None when it has none."""
    before = arguments[: arguments.index("--")] if "--" in arguments else arguments
    for word, following in zip(before, [*before[1:], ""], strict=True):
        name, has_value, value = word.partition("=")
        if name in names:
            return value if has_value else following
    return None


def parse(arguments: Sequence[str], known: frozenset[str]) -> Asked:
    """What `arguments` say; raises BadArguments for an option that is not `known`."""
    options: dict[str, str | bool] = {}
    words: list[str] = []
    rest = list(arguments)
    after: tuple[str, ...] = ()
    while rest:
        word = rest.pop(0)
        if word == "--":
            after = tuple(rest)
            break
        if not word.startswith("-") or word == "-":
            words.append(word)
            continue
        name, has_value, value = word.partition("=")
        name = _SHORT.get(name, name)
        if name not in known:
            raise BadArguments(name)
        if name not in _WITH_VALUE:
            options[name] = True
        elif has_value:
            options[name] = value
        else:
            options[name] = rest.pop(0) if rest else ""
    return Asked(words.pop(0) if words else "", options, tuple(words), after)
