"""The targets that come with turnproof: the reference, and its mutants as `mutant:NAME`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from harness.errors import UsageError
from harness.mutants.endpoint import MUTANTS
from harness.target import Target
from harness.target_file import find, load

REFERENCE = "reference"
_MUTANT = "mutant:"
_FILE = Path(__file__).parent / "fixtures" / "targets" / "reference-endpoint.toml"


def find_target(text: str) -> Target:
    """The target that `text` names: `reference`, `mutant:NAME`, a target file or a URL.

    Raises UsageError when there is no such thing, or when it cannot be used.
    """
    if text == REFERENCE:
        return load(_FILE)
    if text.startswith(_MUTANT):
        return _mutant(text.removeprefix(_MUTANT))
    return find(text)


def _mutant(name: str) -> Target:
    known = [mutant.name for mutant in MUTANTS]
    if name not in known:
        raise UsageError(f"no mutant is called {name!r}", f"the mutants are: {', '.join(known)}")
    reference = load(_FILE)
    assert reference.start is not None
    command: list[str] = []
    for part in reference.start.command:
        command += ["harness.mutants.endpoint", name] if part == "harness.reference.endpoint" else [part]
    return replace(reference, name=f"mutant {name}", start=replace(reference.start, command=tuple(command)))
