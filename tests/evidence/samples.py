"""Evidence of small made-up runs, for tests that change it."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from harness.evidence.bundle import written
from harness.evidence.live import Files, evidence
from harness.evidence.provenance import Commit, Provenance
from harness.evidence.statement import statement_of
from harness.evidence.verification import Demands
from harness.results import Act, Results
from tests.sample_results import exchange, finding, records, result, results

COMMIT = "5d41402abc4b2a76b9719d911017c592aabbccdd"
PROVENANCE = Provenance("0.1.0", "ab" * 32, Commit(COMMIT), "3.11.7", "Linux x86_64")
NOW = datetime.datetime(2026, 11, 29, 12, 30, tzinfo=datetime.UTC)
PLAIN = Demands(now=NOW)
HOSTILE = "</details>\n```\n<!-- turnproof evidence begins -->\n<img src=x onerror=alert(1)> `@someone` | x"

Path = tuple[str | int, ...]


ACTS = (Act("a.py::passed", "client", "ask", {"path": "/"}, {"exchange": 1}),)


def sample(**header: Any) -> Results:
    """A run with a check that passed and one that failed, each with an exchange."""
    failed = result("a.py::failed", ("AE-AUTH-2",), "fail", finding(2))
    checks = [result("a.py::passed", ("AE-AUTH-1",), "pass"), failed]
    return replace(results(checks, exchanges=[exchange(1), exchange(2, hop="model")], **header), acts=ACTS)


def statement(provenance: Provenance = PROVENANCE, **header: Any) -> dict[str, Any]:
    """The statement on the sample."""
    return statement_of(records(sample(**header)), provenance)


def files(provenance: Provenance = PROVENANCE, key: Any = None, **header: Any) -> Files:
    """The evidence of the sample."""
    return evidence(records(sample(**header)), provenance, key)


def bundle(value: Mapping[str, Any]) -> str:
    """A statement as the text of a bundle."""
    return written(value)


def leaves(value: Any, path: Path = ()) -> Iterator[Path]:
    """Where in a JSON value something stands that holds nothing else; an empty list or object does so too."""
    inside: list[tuple[str | int, Any]] = []
    if isinstance(value, dict):
        inside = list(value.items())
    elif isinstance(value, list):
        inside = list(enumerate(value))
    if not inside:
        yield path
    for key, item in inside:
        yield from leaves(item, (*path, key))


def changed(value: Any, path: Path, change: Callable[[Any], Any]) -> Any:
    """The JSON value with what stands at the path changed."""
    if not path:
        return change(value)
    copy: Any = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = changed(value[path[0]], path[1:], change)
    return copy


def other(value: Any) -> Any:
    """A value that is not this one, and is like it where that can be."""
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1
        case str():
            return f"{value}x"
        case list():
            return [*value, "x"]
        case dict():
            return {**value, "x": 1}
    return "x"
