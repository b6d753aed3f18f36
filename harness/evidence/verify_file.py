"""`turnproof verify`: what its argument and options name, read and checked."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import TextIO

from harness.diff import run_in
from harness.errors import UsageError
from harness.evidence.signing import public_key
from harness.evidence.verification import Demands, Verified, age, verify
from harness.replay import Replayed, replay
from harness.verdict import Summary

STANDARD_INPUT = "-"


def is_results(file: str) -> bool:
    """Whether the file is one of results, by its name or its first line; a folder stands for the one that it holds."""
    if file == STANDARD_INPUT:
        return False
    if file.endswith(".jsonl") or Path(file).is_dir():
        return True
    try:
        with Path(file).open(encoding="utf-8", errors="replace") as stream:
            first = json.loads(stream.readline())
    except (OSError, ValueError):
        return False
    return isinstance(first, dict) and "record" in first


def verify_file(
    file: str, standard_input: TextIO, bundle: Path | None, *, max_age: str | None, commit: str | None, key: Path | None
) -> tuple[Verified, ...]:
    """Every evidence in a file, or in standard input, accepted.

    Raises UsageError for options that cannot be used, and Refused for evidence that is not what it should be.
    """
    demands = Demands(
        now=datetime.datetime.now(datetime.UTC),
        max_age=None if max_age is None else age(max_age),
        commit=_commit(commit),
        key=None if key is None else public_key(key),
    )
    if file == STANDARD_INPUT and standard_input.isatty():
        raise UsageError("there is nothing to verify", "Name a file, or pipe the text of a pull request into it.")
    text = standard_input.read() if file == STANDARD_INPUT else _text(Path(file))
    return verify(text, demands, None if bundle is None else _text(bundle))


def replay_file(
    results: Path, bundle: Path | None, *, max_age: str | None, commit: str | None, key: Path | None
) -> tuple[Summary, tuple[Replayed, ...]]:
    """What a results file, or the one in a folder, says; and its checks, made again: it has no seal to check.

    Raises UsageError for options that only evidence can meet, and what `harness.replay.replay` raises.
    """
    if any(option is not None for option in (bundle, max_age, commit, key)):
        raise UsageError("a results file has no seal, so only its verdicts can be checked", "Give evidence.json.")
    recorded = run_in(results)
    return recorded, replay(recorded.results)


def _commit(commit: str | None) -> str | None:
    if commit is not None and len(commit) < 7:
        raise UsageError(f"{commit!r} is too short for a commit", "Give seven digits or more.")
    return commit


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{path}: cannot be read: {error}", "Give evidence.md, evidence.json or an envelope."
        ) from error
