"""Shards of one run, made on several machines, as one results file; anything that is not exactly that is refused."""

from __future__ import annotations

import hashlib
import itertools
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

from harness.cell import Cell, Piece, Plan, Shard, Share
from harness.errors import UsageError
from harness.redaction import Redactor
from harness.reporting.names import remove_reports
from harness.reporting.visible import one_line
from harness.results import RESULTS, Footer, Header, Results, Writer, read

_HINT = "merge the results of all shards of one run: the same suite, target, options and version of turnproof"
_OWN = ("run", "seed", "started", "planned", "requirements", "share")
"""What each run has of its own in its header; everything else must be the same in all."""


@dataclass(frozen=True)
class _Part:
    path: Path
    results: Results

    @property
    def header(self) -> Header:
        return self.results.header

    @property
    def cell(self) -> Cell:
        return self.header.cell

    @property
    def shard(self) -> Shard:
        return self.cell.shard


def find_results(named: Sequence[Path], out: Path) -> tuple[Path, ...]:
    """The results files that `named` means: files, and folders with `results.jsonl` at any depth, but not in `out`.

    Raises UsageError when a folder holds none.
    """
    found: list[Path] = []
    for path in named:
        below = [path]
        if path.is_dir():
            below = [file for file in sorted(path.rglob(RESULTS)) if file.parent.resolve() != out.resolve()]
        if not below:
            raise UsageError(f"{path}: no {RESULTS} is in this folder", "name the folders that runs wrote with --out")
        found += below
    return tuple(found)


def merge(paths: Sequence[Path], out: Path) -> Results:
    """Write the results of all shards into `out` as one `results.jsonl`; what that says.

    Raises UsageError when they are incomplete, doubled or mixed, and when `out` cannot be written.
    """
    parts = sorted((_Part(path, read(path)) for path in paths), key=lambda part: part.shard)
    _refuse_mixed(parts)
    _refuse_doubled(parts)
    _refuse_incomplete(parts)
    _refuse_overlapping(parts)
    header, footer, records = _header(parts), _footer(parts), [line for part in parts for line in _records(part)]
    try:
        out.mkdir(parents=True, exist_ok=True)
        remove_reports(out)
        with (out / RESULTS).open("w", encoding="utf-8", newline="\n") as stream:
            writer = Writer(stream, Redactor())
            writer.write(header.to_json())
            stream.writelines(records)
            writer.write(footer.to_json())
    except OSError as error:
        raise UsageError(f"{out}: cannot be written: {error.strerror}", "choose another folder with --out") from error
    return read(out / RESULTS)


def _refuse_mixed(parts: Sequence[_Part]) -> None:
    first = parts[0]
    for part in parts:
        if part.header.share.pieces:
            raise UsageError(f"{part.path} was merged already", _HINT)
        if different := _differences(first.header, part.header):
            raise UsageError(
                f"mixed results: {part.path} ({part.cell}) and {first.path} ({first.cell}) differ in {different}", _HINT
            )


def _differences(one: Header, other: Header) -> str:
    """The names of what is not the same in both; empty when they are of one run."""
    alike = [field.name for field in fields(Header) if field.name not in _OWN]
    different = [name for name in alike if getattr(one, name) != getattr(other, name)]
    shares = (
        ("the number of shards", one.share.shard.count != other.share.shard.count),
        ("the target's description", one.share.digest != other.share.digest),
        ("the checks that were chosen", one.share.plan != other.share.plan),
    )
    return ", ".join([*different, *(name for name, differs in shares if differs)])


def _refuse_doubled(parts: Sequence[_Part]) -> None:
    for part, following in itertools.pairwise(parts):
        if part.shard == following.shard:
            message = f"doubled results: {part.path} and {following.path} are both of {part.cell}"
            raise UsageError(message, "name the results of each shard once")


def _refuse_incomplete(parts: Sequence[_Part]) -> None:
    first = parts[0]
    there = {part.shard.number for part in parts}
    missing = [number for number in range(1, first.shard.count + 1) if number not in there]
    if missing:
        cells = [str(replace(first.cell, shard=Shard(number, first.shard.count))) for number in missing]
        raise UsageError(f"incomplete results: there are none of {'; '.join(cells)}", "run what is missing, and merge")
    for part in parts:
        if told := _unfinished(part):
            message = f"incomplete results: the run of {part.cell} did not finish: {part.path} {told}"
            raise UsageError(message, "run this shard again, and merge")


def _unfinished(part: _Part) -> str:
    """Why the run of a shard did not finish; empty when it did."""
    footer = part.results.footer
    if footer is None:
        return "has no footer"
    if footer.outcome != "finished":
        return f"ends with {footer.outcome}" + (f": {one_line(footer.error)}" if footer.error else "")
    planned = Counter(check.check for check in part.header.planned)
    made = Counter(check.check for check in part.results.checks)
    return "" if planned == made else f"has {made.total()} results of {planned.total()} checks"


def _refuse_overlapping(parts: Sequence[_Part]) -> None:
    """Shards of one run have no check and no exchange in common, and all together are the plan."""
    checks = Counter(check.check for part in parts for check in part.header.planned)
    numbers = Counter(number for part in parts for number in part.results.exchanges)
    requirements = {requirement.id for part in parts for requirement in part.header.requirements}
    plan = parts[0].header.share.plan
    complete = plan is None or (checks == Counter(plan.checks) and requirements == set(plan.requirements))
    if not complete or numbers.total() != len(numbers):
        raise UsageError("the results are not those of one run: its checks are not split as its plan says", _HINT)


def _header(parts: Sequence[_Part]) -> Header:
    first = parts[0].header
    planned = {check.check: check for part in parts for check in part.header.planned}
    requirements = {requirement.id: requirement for part in parts for requirement in part.header.requirements}
    plan = first.share.plan or Plan(tuple(planned), tuple(requirements))
    return replace(
        first,
        run=str(uuid.uuid5(uuid.NAMESPACE_OID, " ".join(part.header.run for part in parts))),
        seed=hashlib.sha256(" ".join(part.header.seed for part in parts).encode()).hexdigest()[:32],
        started=min(part.header.started for part in parts),
        planned=tuple(planned[check] for check in plan.checks),
        requirements=tuple(requirements[id_] for id_ in plan.requirements),
        share=Share(first.share.digest, pieces=tuple(map(_piece, parts))),
    )


def _piece(part: _Part) -> Piece:
    header = part.header
    checks = tuple(check.check for check in header.planned)
    return Piece(part.shard, header.run, header.seed, header.started, checks)


def _footer(parts: Sequence[_Part]) -> Footer:
    ends = [part.results.footer.ended for part in parts if part.results.footer]
    count = sum(len(part.results.checks) for part in parts)
    return Footer("finished", count, count, max(ends))


def _records(part: _Part) -> Iterator[str]:
    """What is between header and footer, as it is."""
    _, *records, _, _ = part.path.read_bytes().split(b"\n")
    return (f"{record.decode('utf-8')}\n" for record in records)
