from __future__ import annotations

import contextlib
import json
import random
from collections.abc import Callable, Iterator
from typing import get_args

import httpx
import pytest

from harness import control as control_module
from harness.attached import Attached, attached
from harness.behind import Behind
from harness.control import Control, controlled
from harness.engine import Engine
from harness.errors import HarnessError, TargetNotReady
from harness.exchange import Hop, Request
from harness.fakes.model.script import Rule
from harness.held import HeldParts, held_at
from harness.journal import Journal
from harness.redaction import Redactor
from harness.tap_script import TapRule
from tests.arbitrary import arbitrary
from tests.noted_parts import DESCRIPTION, Noted

REQUEST = Request("POST", "/session", (("a", "b"),), b"{}")


@pytest.fixture
def parts() -> Noted:
    return Noted()


@pytest.fixture
def far() -> Journal:
    """The journal of what is held."""
    return Journal()


@pytest.fixture
def near() -> Journal:
    """The journal of the run that attaches."""
    return Journal(first_number=100)


@pytest.fixture
def held(engine: Engine, parts: Noted, far: Journal) -> Iterator[HeldParts]:
    with controlled(engine, parts, far, DESCRIPTION) as address:
        yield held_at(address)


@pytest.fixture
def behind(engine: Engine, near: Journal, held: HeldParts, parts: Noted) -> Iterator[Attached]:
    """What is held, in the hands of a run."""
    with attached(engine, near, held) as behind:
        parts.told.clear()
        yield behind


def test_it_is_what_a_run_expects_behind_a_target(behind: Attached) -> None:
    expected: Behind = behind
    assert expected.placeholders() == Noted().placeholders()
    assert expected.canaries() == Noted().canaries()
    assert [hop for hop in get_args(Hop) if expected.observes(hop)] == ["client", "model"]


def test_its_secrets_and_its_own_word_are_concealed(behind: Attached, held: HeldParts) -> None:
    redactor = Redactor()
    behind.conceal(redactor)
    text = f"password-of-opencode b3BlbmNvZGU6cGFzc3dvcmQtb2Ytb3BlbmNvZGU= {held.word}"
    assert redactor.redact(text) == "[secret:opencode] [secret:opencode] [secret:control]"


def test_rules_arrive_as_they_were_given(behind: Attached, parts: Noted) -> None:
    chance = random.Random(1)
    model = tuple(arbitrary(Rule, chance) for _ in range(20))
    tap = tuple(arbitrary(kind, chance) for kind in get_args(TapRule) for _ in range(5))
    behind.use_model_rules(model)
    behind.use_tap_rules(tap)
    assert parts.told == [("model", model), ("tap", tap)]


def test_gate_is_opened(behind: Attached, parts: Noted) -> None:
    behind.open_gate("tpabc")
    assert parts.told == [("gate", "tpabc")]


def test_what_the_parts_carry_is_had_once_caught_up(behind: Attached, near: Journal, far: Journal) -> None:
    recording = far.record("model", REQUEST)
    recording.head(200, (("x", "y"),))
    recording.data(b"\xff")
    recording.close("complete")
    behind.catch_up()
    (exchange,) = near.seen()
    assert (exchange.number, exchange.hop, exchange.request) == (100, "model", REQUEST)
    assert (exchange.status, exchange.headers, exchange.body, exchange.end) == (200, (("x", "y"),), b"\xff", "complete")


@pytest.mark.usefixtures("behind")
def test_waiting_sees_what_the_parts_carry(near: Journal, far: Journal) -> None:
    far.record("model", REQUEST)
    assert near.wait("model", lambda seen: len(seen) == 1, 10.0)


def test_what_was_carried_before_is_not_this_runs(engine: Engine, near: Journal, far: Journal, held: HeldParts) -> None:
    early = far.record("model", REQUEST)
    with attached(engine, near, held) as behind:
        early.close("complete")
        far.record("opencode", REQUEST)
        behind.catch_up()
    assert [exchange.hop for exchange in near.seen()] == ["opencode"]


def test_settling_ends_the_window_of_the_parts_too(behind: Attached, parts: Noted, near: Journal, far: Journal) -> None:
    far.record("model", REQUEST)
    behind.settle()
    assert (parts.told, far.seen(), len(near.seen())) == ([("settle", None)], (), 1)


def test_act_that_fails_is_a_fault_of_ours(behind: Attached, parts: Noted) -> None:
    parts.error = HarnessError("an internal call did not end")
    with pytest.raises(HarnessError, match=r"cannot gate: .*an internal call did not end"):
        behind.open_gate("x")
    parts.error = None


def test_parts_are_at_rest_before_and_after(engine: Engine, near: Journal, held: HeldParts, parts: Noted) -> None:
    with attached(engine, near, held) as behind:
        assert parts.told == [("settle", None)]
        behind.open_gate("x")
    assert parts.told == [("settle", None), ("gate", "x"), ("settle", None)]
    with attached(engine, near, held):
        pass


def test_one_run_at_a_time_has_them(
    engine: Engine, behind: Attached, held: HeldParts, parts: Noted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control_module, "_PATIENCE", 0.01)
    with (
        pytest.raises(TargetNotReady, match="another run has the hold") as caught,
        attached(engine, Journal(), held),
    ):
        pass
    assert held.word not in caught.value.message
    behind.open_gate("still mine")
    assert parts.told == [("gate", "still mine")]


def test_run_waits_for_the_one_before_to_be_gone(engine: Engine, held: HeldParts, parts: Noted) -> None:
    with httpx.stream("POST", f"{held.address}/attach") as response:
        next(response.iter_lines())
    with attached(engine, Journal(), held) as behind:
        behind.open_gate("mine")
    assert parts.told == [("settle", None)] * 3 + [("gate", "mine"), ("settle", None)]


def test_rules_of_a_run_that_is_gone_do_not_reach_the_next(engine: Engine, held: HeldParts, parts: Noted) -> None:
    with contextlib.ExitStack() as ends:
        response = ends.enter_context(httpx.stream("POST", f"{held.address}/attach"))
        session = json.loads(next(response.iter_lines()))["session"]
        ends.close()
        with attached(engine, Journal(), held):
            late = httpx.post(f"{held.address}/{session}/gate", json="x")
            left = httpx.post(f"{held.address}/{session}/leave", json=None)
    assert (late.status_code, left.status_code) == (410, 410)
    assert ("gate", "x") not in parts.told


@pytest.mark.parametrize("reach", [lambda b: b.open_gate("x"), lambda b: b.catch_up(), lambda b: b.settle()])
def test_run_that_lost_its_hold_is_told(
    engine: Engine, parts: Noted, far: Journal, near: Journal, reach: Callable[[Behind], None]
) -> None:
    control = Control(parts, far, DESCRIPTION)
    engine.call(control.start(), 10)
    with attached(engine, near, held_at(control.address)) as behind:
        engine.call(control.stop(), 10)
        with pytest.raises(TargetNotReady, match="it has ended, or let go of this run"):
            reach(behind)
