"""What many checks of a Kilo CLI expect, each with the finding that says so."""

from __future__ import annotations

import json
from typing import Any

from harness.check import expect
from harness.kilo_actor import Played
from harness.kilo_outcome import outline, turn_calls

MEND = "do as this version of kilo was recorded to do"


def shown(played: Played) -> str:
    """What came of a start in a few words."""
    ran = played.ran
    status = "no end" if ran.status is None else f"exit status {ran.status}"
    told = ", ".join(outline(event) for event in played.outcome["events"]) or "no event"
    return f"{status} after {ran.seconds:.1f} s, {len(played.calls)} model calls, {told}"


def texts(played: Played, kind: str = "text") -> list[str]:
    """The texts of the parts of a kind, in the order of their events."""
    return [event["part"]["text"] for event in played.outcome["events"] if event.get("type") == kind]


def expect_turned(played: Played) -> None:
    """The model was asked and its answer told: the turn really went all the way round."""
    why = played.scenario.about
    exchange = played.calls[0] if played.calls else None
    expect(bool(turn_calls(played.calls)), f"a call of the model for {why}", shown(played), "ask the model", exchange)
    said = any("{answered}" in text for text in texts(played))
    expect(said, f"a text event with the model's answer for {why}", shown(played), "print the answer", exchange)


def expect_status(played: Played) -> None:
    """It exited as recorded."""
    wanted = played.recorded["status"]
    shown_ = "no end" if wanted is None else f"exit status {wanted}"
    expect(played.ran.status == wanted, f"{shown_} for {played.scenario.about}", shown(played), MEND)


def expect_same(played: Played, what: str, came: Any, recorded: Any) -> None:
    """Something of it is as recorded."""
    exchange = played.calls[0] if played.calls else None
    expect(came == recorded, f"{what} {_json(recorded)} for {played.scenario.about}", _json(came), MEND, exchange)


def expect_same_list(played: Played, what: str, came: list[Any], recorded: list[Any]) -> None:
    """A list is as recorded; the finding names the first place where it is not."""
    place = next((at for at, (a, b) in enumerate(zip(came, recorded, strict=False)) if a != b), None)
    if place is not None:
        expect_same(played, f"as {what} {place + 1}", came[place], recorded[place])
    expect_same(played, f"{what}s, in number", len(came), len(recorded))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
