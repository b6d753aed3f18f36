"""A TOML file that a user wrote, and what is wrong with it: by file, line and key."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.errors import UsageError
from harness.literal_secrets import masked
from harness.target_schema import Problem
from harness.toml_lines import Lines, lines

_SYNTAX_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)\Z")


@dataclass(frozen=True)
class TomlFile:
    """A file's data and text; `hint` says what to do next about what is wrong with it."""

    path: Path
    text: str
    data: dict[str, Any]
    hint: str

    @property
    def place(self) -> Lines:
        """The line of each of its values."""
        return lines(self.text)

    def refuse(self, problems: Iterable[Problem]) -> None:
        """Raise UsageError with every problem, one a line, as `file:line: key: what is wrong`, if there is any."""
        found = list(problems)
        if found:
            place = self.place
            told = sorted((place.of(problem.path), str(problem)) for problem in found)
            raise UsageError(masked("\n".join(f"{self.path}:{line}: {text}" for line, text in told)), self.hint)


def read_toml(path: Path, absent: str, hint: str) -> TomlFile:
    """The file at `path`; raises UsageError when there is none, which hints at `absent`, or when it is not TOML."""
    text = _text(path, absent)
    return TomlFile(path, text, _parse(text, path, hint), hint)


def _text(path: Path, absent: str) -> str:
    if path.is_dir():
        raise UsageError(f"{path}: is a folder", "Name the file in it.")
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise UsageError(f"{path}: no such file", absent) from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise UsageError(f"{path}:{line}: is not UTF-8", "Save the file as UTF-8.") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: cannot be read: {error}", "Name a file that can be read.") from None


def _parse(text: str, path: Path, hint: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise UsageError(f"{path}: is nested too deeply", hint) from None
    except ValueError as error:
        place = _SYNTAX_PLACE.search(str(error))
        message = str(error)[: place.start()] if place else str(error)
        line = place[1] if place and place[1] else str(text.rstrip().count("\n") + 1)
        column = f" in column {place[2]}" if place and place[2] else ""
        raise UsageError(masked(f"{path}:{line}: not TOML: {message}{column}"), "Mend the syntax.") from None
