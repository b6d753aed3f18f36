"""Builds diffs for tests."""

from __future__ import annotations

from harness.diff import Diff, compare
from harness.requirements import Requirement
from harness.verdict import summarise
from tests.sample_results import HOSTILE, exchange, finding, hostile_summary, result, results

ROWS = (
    Requirement("AE-AUTH-1", "MUST", "A request without a valid key is refused with 401 before all else.", ("A",)),
    Requirement("AE-AUTH-2", "MUST", "A revoked or expired key is refused.", ("A",)),
    Requirement("AE-AUTH-3", "SHOULD", "The refusal does not tell whether the key ever existed.", ("A",)),
    Requirement("AE-STREAM-1", "MUST", "Events come in order, and `[DONE]` ends them.", ("B",)),
    Requirement("AE-RATE-1", "MUST", "Requests over the cap get 429.", ("B",)),
    Requirement("AE-TURN-1", "MUST", "An aborted turn makes no further model call.", ("B",)),
    Requirement("AE-TURN-2", "MAY", "A turn may be taken up again.", ("B",)),
    Requirement("AE-TURN-3", "MUST", "A turn that hangs is ended.", ("B",)),
)


def mixed_diff() -> Diff:
    """Two runs with every change between them, as a person may see it."""
    failed = finding(7)
    old = [
        result("a1", ("AE-AUTH-1",), "pass"),
        result("a2", ("AE-AUTH-2",), "fail", finding(3, came="status 200")),
        result("a3", ("AE-AUTH-3",), "pass"),
        result("s1", ("AE-STREAM-1",), "fail", failed),
        result("r1", ("AE-RATE-1",), "pass"),
        result("t1", ("AE-TURN-1",), "not-measured", reason="no stand-in is behind it"),
        result("t2", ("AE-TURN-2",), "pass"),
        result("same", ("AE-AUTH-1",), "pass"),
    ]
    new = [
        result("a1", ("AE-AUTH-1",), "fail", failed),
        result("same", ("AE-AUTH-1",), "pass"),
        result("a2", ("AE-AUTH-2",), "pass"),
        result("a3", ("AE-AUTH-3",), "fail", finding()),
        result("s1", ("AE-STREAM-1",), "inconclusive", reason="the turn was over before it could be aborted"),
        result("r1", ("AE-RATE-1",), "not-measured", reason="no key can be minted"),
        result("t1", ("AE-TURN-1",), "pass"),
        result("t3", ("AE-TURN-3",), "fail", finding(7)),
    ]
    before = results(old, [row for row in ROWS if row.id != "AE-TURN-3"], exchanges=[exchange(3), exchange(7)])
    after = results(
        new,
        [row for row in ROWS if row.id != "AE-TURN-2"],
        exchanges=[exchange(7)],
        run="r2",
        started="2026-11-30T12:00:00Z",
        harness="0.2.0",
        parts=({"name": "opencode", "version": "1.18.34", "digest": "sha256:def"},),
    )
    return compare(summarise(before), summarise(after))


def hostile_diff() -> Diff:
    """A diff where everything that comes from outside is hostile."""
    new = hostile_summary()
    old = [result(checked.check, tuple(r.id for r in checked.requirements), "pass") for checked in new.checks]
    return compare(summarise(results(old, harness=HOSTILE)), new)
