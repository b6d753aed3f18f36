"""The results file: JSON Lines, append-only, with a header and a mandatory footer.

Everything else (exit code, reports, evidence) is derived from it. Records, by their key `record`:
`header`, then `exchange`, `act` and `check` in any number, then `footer`. A file without a footer is a run
that did not finish. Shapes: `fixtures/schemas/results.schema.json`.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any, Literal, get_args

from harness.cell import Cell, Share
from harness.errors import HarnessError, UsageError
from harness.exchange import Exchange, exchange_from_json
from harness.redaction import Redactor
from harness.requirements import Requirement
from harness.target import Facts
from harness.waiver import Waiver

Verdict = Literal["pass", "fail", "not-applicable", "not-measured", "inconclusive", "error"]
Outcome = Literal["finished", "interrupted", "not-ready", "error"]

SCHEMA_VERSION = 1

RESULTS = "results.jsonl"
"""The name of a results file in the folder of its run."""


@dataclass(frozen=True)
class Planned:
    """A check that the run means to make: its id, its requirements and its name as a sentence."""

    check: str
    requirements: tuple[str, ...]
    title: str


@dataclass(frozen=True)
class Header:
    """What the run was asked to do.

    `parts` tells name, version and digest of the real binaries in the chain; `waivers` are those of the target's file;
    `share` says what the file is of a run on several machines. `whole` is how many checks the suite has; None in the
    file of a version that did not tell.
    """

    run: str
    seed: str
    started: str
    harness: str
    suite: str
    target: Facts
    strict: bool
    require_all: bool
    planned: tuple[Planned, ...]
    requirements: tuple[Requirement, ...]
    share: Share
    parts: tuple[Mapping[str, str], ...] = ()
    waivers: tuple[Waiver, ...] = ()
    whole: int | None = None

    @property
    def partial(self) -> bool:
        """Whether the run was to make a part of the suite's checks only, by choice or as a shard."""
        return self.whole is not None and len(self.planned) < self.whole

    @property
    def cell(self) -> Cell:
        """The cell that was run."""
        return Cell(self.suite, self.target.name, self.share.shard)

    def seed_of(self, check: str) -> str:
        """The seed that the nonces of a check are derived from: of merged runs each has its own."""
        return next((piece.seed for piece in self.share.pieces if check in piece.checks), self.seed)

    def to_json(self) -> dict[str, Any]:
        """The header's record."""
        return {
            "record": "header",
            "schema": SCHEMA_VERSION,
            **{name: getattr(self, name) for name in ("run", "seed", "started", "harness", "suite")},
            "target": self.target.to_json(),
            "strict": self.strict,
            "require_all": self.require_all,
            "planned": [asdict(planned) for planned in self.planned],
            "requirements": [requirement.to_json() for requirement in self.requirements],
            "share": self.share.to_json(),
            "parts": [dict(part) for part in self.parts],
            "waivers": [waiver.to_json() for waiver in self.waivers],
            "whole": self.whole,
        }

    @staticmethod
    def from_json(value: dict[str, Any]) -> Header:
        """The inverse of `to_json`; raises ValueError when the run began at no time."""
        datetime.datetime.fromisoformat(value["started"])
        return Header(
            **{name: value[name] for name in ("run", "seed", "started", "harness", "suite")},
            target=Facts.from_json(value["target"]),
            strict=value["strict"],
            require_all=value["require_all"],
            planned=tuple(Planned(p["check"], tuple(p["requirements"]), p["title"]) for p in value["planned"]),
            requirements=tuple(Requirement.from_json(entry) for entry in value["requirements"]),
            share=Share.from_json(value["share"]),
            parts=tuple(value["parts"]),
            waivers=tuple(Waiver.from_json(entry) for entry in value["waivers"]),
            whole=value.get("whole"),
        )


@dataclass(frozen=True)
class Finding:
    """Why a check failed: what the contract wants, what came, how to mend it, and the exchange that shows it."""

    expected: str
    came: str
    mend: str
    exchange: int | None = None


@dataclass(frozen=True)
class CheckResult:
    """A check's verdict, as the target earned it: whether a waiver covers a failure is for `harness.verdict` to say.

    `reason` says why it was not measured, is inconclusive or broke; `duration` is in seconds; `signature` is that of
    its failure. `output` is the end of what the target wrote during a check that did not pass, as far as it is ours.
    """

    check: str
    requirements: tuple[str, ...]
    verdict: Verdict
    duration: float
    exchanges: tuple[int, ...] = ()
    finding: Finding | None = None
    reason: str | None = None
    signature: str | None = None
    output: str = ""

    def to_json(self) -> dict[str, Any]:
        """The check's record; one without output does not tell any."""
        record = {"record": "check", **asdict(self), "duration": round(self.duration, 4)}
        return record if self.output else {name: value for name, value in record.items() if name != "output"}

    @staticmethod
    def from_json(value: dict[str, Any]) -> CheckResult:
        """The inverse of `to_json`; raises ValueError for an unknown verdict."""
        if value["verdict"] not in get_args(Verdict):
            raise ValueError(f"{value['verdict']!r} is no verdict")
        return CheckResult(
            value["check"],
            tuple(value["requirements"]),
            value["verdict"],
            value["duration"],
            tuple(value["exchanges"]),
            Finding(**value["finding"]) if value["finding"] else None,
            value["reason"],
            value["signature"],
            value.get("output", ""),
        )


@dataclass(frozen=True)
class Act:
    """One call of a check to an actor: what it asked under which label, and what it was shown."""

    check: str
    actor: str
    label: str
    asked: Any
    seen: Any

    def to_json(self) -> dict[str, Any]:
        """The act's record."""
        return {"record": "act", **asdict(self)}


@dataclass(frozen=True)
class Footer:
    """How the run ended: its outcome, planned against run checks, and the error that ended it early, if one did."""

    outcome: Outcome
    planned: int
    run: int
    ended: str
    error: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The footer's record."""
        return {"record": "footer", **asdict(self)}

    @staticmethod
    def from_json(value: dict[str, Any]) -> Footer:
        """The inverse of `to_json`; raises ValueError for an unknown outcome."""
        if value["outcome"] not in get_args(Outcome):
            raise ValueError(f"{value['outcome']!r} is no outcome")
        return Footer(*(value[name] for name in ("outcome", "planned", "run", "ended", "error")))


@dataclass(frozen=True)
class Results:
    """A whole results file. `footer` is None when the run did not finish; `strays` arrived outside their check."""

    header: Header
    checks: tuple[CheckResult, ...] = ()
    acts: tuple[Act, ...] = ()
    exchanges: Mapping[int, Exchange] = field(default_factory=dict)
    strays: tuple[int, ...] = ()
    footer: Footer | None = None

    @property
    def finished(self) -> bool:
        """Whether the run made every check it planned and said so."""
        return self.footer is not None and self.footer.outcome == "finished" and self.footer.run == self.footer.planned


class Writer:
    """Appends records to a file, each whole and at once; secrets are replaced here, before anything is written."""

    def __init__(self, stream: IO[str], redactor: Redactor) -> None:
        self._stream = stream
        self._redactor = redactor

    def write(self, record: dict[str, Any]) -> None:
        """Append one record; raises HarnessError when it cannot be written."""
        try:
            self._stream.write(line_of(self._redactor.redact_record(record)))
            self._stream.flush()
        except OSError as error:
            message = f"the results cannot be written: {error.strerror}"
            raise HarnessError(message, "make room, or choose another folder with --out") from error


def line_of(record: Mapping[str, Any]) -> str:
    """The record as it stands in a results file, with its line end."""
    line = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    return line.encode("utf-8", "backslashreplace").decode() + "\n"


def read(path: Path) -> Results:
    """The results in `path`; raises UsageError when it is not a results file. A torn last line is left out."""
    try:
        *lines, _torn = path.read_bytes().split(b"\n")
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error}", "give the results.jsonl of a run") from error
    try:
        return results_of([_record(line) for line in lines])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UsageError(f"{path}: not a results file: {error!r}", "give the results.jsonl of a run") from error


def _record(line: bytes) -> dict[str, Any]:
    record = json.loads(line.decode("utf-8"))
    if not isinstance(record, dict):
        raise ValueError("a line holds no record")
    return record


def results_of(records: list[dict[str, Any]]) -> Results:
    """The results that these records are; raises ValueError, KeyError, TypeError or AttributeError if they are none."""
    if not records or records[0].get("record") != "header" or records[0].get("schema") != SCHEMA_VERSION:
        raise ValueError("the first record is no header of this version")
    kinds: dict[str, list[dict[str, Any]]] = {"exchange": [], "act": [], "check": [], "footer": []}
    for record in records[1:]:
        kinds[record["record"]].append(record)
    if len(kinds["footer"]) > 1 or (kinds["footer"] and records[-1]["record"] != "footer"):
        raise ValueError("the footer is not the last record")
    acts = (Act(a["check"], a["actor"], a["label"], a["asked"], a["seen"]) for a in kinds["act"])
    numbers = [record["number"] for record in kinds["exchange"]]
    if len(set(numbers)) < len(numbers):
        raise ValueError("two exchanges have the same number")
    return Results(
        Header.from_json(records[0]),
        tuple(CheckResult.from_json(record) for record in kinds["check"]),
        tuple(acts),
        {record["number"]: exchange_from_json(record) for record in kinds["exchange"]},
        tuple(record["number"] for record in kinds["exchange"] if record["stray"]),
        Footer.from_json(kinds["footer"][0]) if kinds["footer"] else None,
    )
