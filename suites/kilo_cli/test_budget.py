"""How many tokens a request asks for."""

from __future__ import annotations

import pytest

from harness.check import expect
from harness.errors import HarnessError
from harness.kilo_actor import Kilo, Played
from harness.kilo_budget import base, room, rule_of
from harness.kilo_expectations import expect_turned, shown
from harness.kilo_outcome import turn_calls
from harness.kilo_starts import LIMITS, budget

MEND = "choose max_tokens by the rule of this version"


def expect_by_rule(played: Played, output: int | None, context: int | None) -> None:
    """The first request of the turn asks for as many tokens as the recorded rule makes of it."""
    why = played.scenario.about
    recorded = next((call for call in played.recorded["calls"] if call["tools"]), None)
    if recorded is None:
        expect(not played.calls, f"no model call for {why}", shown(played), "refuse limits that are not whole")
        return
    expect_turned(played)
    limit = {"output": output, "context": context}
    rule = rule_of(recorded, limit)
    if rule == "unknown":
        raise HarnessError(f"no rule is known by which the recorded {recorded.get('max_tokens')} follow for {why}")
    first = turn_calls(played.calls)[0]
    came = next(call for call in played.outcome["calls"] if call["tools"])
    number = base(limit) if rule == "base" else round(room(limit, came["characters"]))
    wanted = f"max_tokens {'' if rule == 'base' else 'near '}{number} for {why}"
    expect(rule_of(came, limit) == rule, wanted, f"{came.get('max_tokens')}", MEND, first)


@pytest.mark.requirement("KC-BUDGET-1")
@pytest.mark.parametrize("window", list(dict.fromkeys(context for _, context in LIMITS)))
def test_the_tokens_asked_for_follow_from_the_limits(kilo: Kilo, window: int | None) -> None:
    """`max_tokens` of the first request, for each output limit with one window."""
    limits = [limit for limit in LIMITS if limit[1] == window]
    for played, limit in zip(kilo.play(*(budget(*limit) for limit in limits)), limits, strict=True):
        expect_by_rule(played, *limit)
