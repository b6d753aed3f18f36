"""What the contract leaves to an endpoint is not held against it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from harness.builtin import find_target
from harness.run import Observer, Order, run
from tests.running import ENDPOINTS

OF_STREAMS = "STREAM-3 or STREAM-5 or FAULT-2 or FAULT-3 or FAULT-5 or FAULT-6 or FAULT-8 or REPLY-2"


def test_an_endpoint_that_sends_its_headers_before_the_turn_conforms(tmp_path: Path) -> None:
    reference = find_target("reference")
    assert reference.start is not None
    python, _, _, *arguments = reference.start.command
    start = replace(reference.start, command=(python, str(ENDPOINTS / "eager.py"), *arguments))
    results, error = run(Order(replace(reference, start=start), "agent_endpoint", OF_STREAMS, out=tmp_path), Observer())
    assert error is None
    assert any(b": it works on it" in exchange.body for exchange in results.exchanges.values())
    assert [check.check for check in results.checks if check.verdict != "pass"] == []
