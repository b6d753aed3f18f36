"""What GitHub Actions is told of a run: annotations on the standard output, outputs of the step, and its summary."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from pathlib import Path

from harness.errors import UsageError
from harness.reporting.cases import Case, cases
from harness.reporting.conclusion import conclusion
from harness.reporting.headline import headline
from harness.reporting.markdown import markdown
from harness.verdict import CONFORMS, Summary

SUMMARY_BYTES = 1024 * 1024
"""GitHub shows nothing of a step's summary that is larger."""

_ANNOTATIONS = 10
"""GitHub shows so many errors of a step, and drops the others without a word."""


def commands(summary: Summary) -> str:
    """Workflow commands that annotate, one on a line: an error for each case that counts against the target.

    Those that would not be shown are counted by a last one. A run that conforms is a notice.
    """
    if summary.exit_code == CONFORMS:
        return _command("notice", "turnproof", headline(summary))
    red = [case for case in cases(summary) if case.kind in ("failure", "error") and not _follows(case)]
    red.sort(key=lambda case: case.check is not None)
    shown = red if len(red) <= _ANNOTATIONS else red[: _ANNOTATIONS - 1]
    lines = [_command("error", _title(case), case.account or case.message) for case in shown]
    more = len(red) - len(shown)
    rest = [_command("error", "turnproof", f"and {more} more: see the job's summary")] if more else []
    return "".join([*lines, *rest])


def outputs(summary: Summary, folder: Path, delimiter: str) -> str:
    """The outputs of the step, in the form of `GITHUB_OUTPUT`; `delimiter` must be in none of them."""
    told = {
        "verdict": conclusion(summary),
        "exit-code": str(summary.exit_code),
        "headline": headline(summary),
        "counts": json.dumps(dict(summary.verdicts)),
        "report": str(folder / "report.html"),
    }
    return "".join(f"{name}<<{delimiter}\n{value}\n{delimiter}\n" for name, value in told.items())


def tell(summary: Summary, folder: Path, environment: Mapping[str, str]) -> str:
    """Append summary and outputs to the files that the runner names; the annotations, for the standard output.

    Raises UsageError when it names none, or they cannot be written.
    """
    told = {
        "GITHUB_STEP_SUMMARY": markdown(summary, SUMMARY_BYTES),
        "GITHUB_OUTPUT": outputs(summary, folder, secrets.token_hex(16)),
    }
    for name, text in told.items():
        if not environment.get(name):
            raise UsageError(f"{name} is not set", "--github is for a step of GitHub Actions")
        try:
            with Path(environment[name]).open("a", encoding="utf-8") as stream:
                stream.write(text)
        except OSError as error:
            hint = f"{name} is to name a file that a step may write"
            raise UsageError(f"{environment[name]}: cannot be written: {error.strerror}", hint) from error
    return commands(summary)


def _follows(case: Case) -> bool:
    """Whether it says no more than that the run ended early, which the case of the run says for all."""
    return case.verdict == "not-run" and case.check is not None


def _title(case: Case) -> str:
    return f"{', '.join(case.requirements) or 'turnproof'}: {case.name}"


def _command(level: str, title: str, message: str) -> str:
    return f"::{level} title={_escaped(title, ':', ',')}::{_escaped(message)}\n"


def _escaped(text: str, *more: str) -> str:
    for character in ("%", "\r", "\n", *more):
        text = text.replace(character, f"%{ord(character):02X}")
    return text
