"""Waivers drafted from a run, at the end of the target file; a person has to complete them."""

from __future__ import annotations

import datetime
import json
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.errors import UsageError
from harness.reporting.visible import one_line, shortened
from harness.results import Finding
from harness.target import Target
from harness.verdict import Checked, Summary, day_of

DAYS = 30
"""How long a drafted waiver is to hold, from the run on."""

_COMMENT_CHARACTERS = 100


@dataclass(frozen=True)
class Draft:
    """A failure that needs a waiver: of a requirement, by the id of a check, or of all that differ in parameters."""

    requirement: str
    check: str
    signature: str
    finding: Finding


def file_of(target: Target, named: str | None) -> Path:
    """The file of `target`, which the user named so; raises UsageError when it is not one of the user's own."""
    if named is None or Path(named) != Path(target.source) or not Path(named).is_file():
        hint = "describe the target in a file: turnproof init KIND, then --target FILE"
        raise UsageError("--write-waivers needs a target that is named by its file", hint)
    return Path(named)


def drafts(summary: Summary) -> tuple[Draft, ...]:
    """A draft for each failure that decides, but for those whose waiver ran out: that one is to be extended or not.

    Checks that differ in their parameters alone, and all fail alike, have one between them.
    """
    found = (draft for checked in summary.checks for draft in _drafts(checked, summary))
    unique = {(draft.requirement, draft.check, draft.signature): draft for draft in found}
    return tuple(draft for key, draft in unique.items() if key not in _written(summary))


def as_toml(drafted: tuple[Draft, ...], day: datetime.date) -> str:
    """The drafts as tables of a target file, to hold until some time after `day`."""
    until = day + datetime.timedelta(days=DAYS)
    return "".join(f"\n{_table(draft, until)}" for draft in drafted)


def draft_into(path: Path, summary: Summary) -> str:
    """Append the drafts of a run to the target file at `path`; what was done, and what is to be done, in words.

    Raises UsageError when the file cannot be written, or has its waivers in one line.
    """
    if not summary.finished:
        return "no waivers were drafted: the run did not finish"
    drafted = drafts(summary)
    if not drafted:
        return "no waivers were drafted: nothing that decides fails and lacks one"
    _append(path, as_toml(drafted, datetime.date.fromisoformat(day_of(summary.results.header))))
    many = "1 waiver was" if len(drafted) == 1 else f"{len(drafted)} waivers were"
    return f"{many} drafted at the end of {path}: write owner, reason and link of each"


def _append(path: Path, tables: str) -> None:
    try:
        before = path.read_text(encoding="utf-8-sig")
        text = tables if before.endswith("\n") else f"\n{tables}"
        tomllib.loads(before + text)
        with path.open("a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}", "make it writable, and run again") from error
    except tomllib.TOMLDecodeError as error:
        hint = "write the waivers that are there as [[waivers]] tables, and run again"
        raise UsageError(f"{path}: no waiver can be added at its end: {error}", hint) from error


def _failure(checked: Checked, summary: Summary) -> tuple[str, Finding] | None:
    result = checked.result
    if checked.status != "fail" or not summary.check_decides(checked) or result is None:
        return None
    return (result.signature, result.finding) if result.signature and result.finding else None


def _drafts(checked: Checked, summary: Summary) -> Iterator[Draft]:
    failure = _failure(checked, summary)
    if failure is not None:
        for requirement in checked.requirements:
            yield Draft(requirement.id, _name(checked, summary), *failure)


def _name(checked: Checked, summary: Summary) -> str:
    """The check's id, without its parameters when all that differ in these fail alike."""
    function = _function(checked.check)
    failures = [_failure(other, summary) for other in summary.checks if _function(other.check) == function]
    alike = len(failures) > 1 and len({failure and failure[0] for failure in failures}) == 1
    return function if alike else checked.check


def _function(check: str) -> str:
    return check.partition("[")[0]


def _written(summary: Summary) -> set[tuple[str, str, str]]:
    """What the waivers that are there are for."""
    return {
        (waiver.requirement, name, waiver.signature)
        for waiver in summary.results.header.waivers
        for covered in waiver.covers
        for name in (covered, _function(covered))
    }


def _table(draft: Draft, until: datetime.date) -> str:
    lines = [
        f"# expected {_comment(draft.finding.expected)}",
        f"# came {_comment(draft.finding.came)}",
        "# Complete it: owner, who answers for it; reason, why it has to stay for now; link, where it is tracked.",
        "[[waivers]]",
        'owner = ""',
        'reason = ""',
        'link = ""',
        f"requirement = {_string(draft.requirement)}",
        f"check = {_string(draft.check)}",
        f"until = {until.isoformat()}",
        f"signature = {_string(draft.signature)}",
    ]
    return "\n".join(lines) + "\n"


def _comment(text: str) -> str:
    return shortened(one_line(text), _COMMENT_CHARACTERS)


def _string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
