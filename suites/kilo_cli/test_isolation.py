"""What a run has in common with the user's configuration, and with another run."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from harness.check import Inconclusive, expect
from harness.kilo_actor import Kilo, Played
from harness.kilo_cli import OFF
from harness.kilo_expectations import expect_turned, shown
from harness.kilo_outcome import events_of
from harness.kilo_starts import Scenario, turn

BAIT = 1234
USERS = {
    "home/.config/kilo/kilo.json": json.dumps(
        {"provider": {"nemo": {"models": {"m": {"limit": {"context": 100000, "output": BAIT}}}}}}
    )
}
OWN = replace(turn(), files=USERS)
UNSET = replace(OWN, env={**OFF, "XDG_CONFIG_HOME": None})
TOGETHER = replace(turn(), env={**OFF, "HOME": "{shared}"})


def budgets(played: Played) -> set[object]:
    """The tokens that the requests ask for."""
    return {(call.request.json() or {}).get("max_tokens") for call in played.calls}


@pytest.mark.requirement("KC-ISO-1")
def test_the_users_configuration_is_neither_read_nor_written(kilo: Kilo) -> None:
    """Limits in the user's configuration do not shape a request; where XDG folders are not set, they do."""
    own, unset = kilo.play(
        Scenario("own folders", "a turn with XDG folders of its own", OWN),
        Scenario("user's folders", "a turn with the user's configuration folder", UNSET),
    )
    expect_turned(own)
    if budgets(unset) != {BAIT}:
        raise Inconclusive(f"the user's configuration was not read where it should be: {shown(unset)}")
    mend = "read and write the configuration under XDG_CONFIG_HOME alone"
    expect(BAIT not in budgets(own), "a request that the user's limits do not shape", f"max_tokens {BAIT}", mend)
    kept = {path.removeprefix("home/"): text for path, text in USERS.items()}
    expect(dict(own.ran.home) == kept, f"the home folder as it was: {sorted(kept)}", sorted(own.ran.home), mend)


@pytest.mark.requirement("KC-ISO-1")
def test_two_runs_at_once_share_nothing(kilo: Kilo) -> None:
    """Two turns with one home folder: their prompts, answers and sessions stay apart."""
    first, second = kilo.play(
        Scenario("first", "the first of two turns at once", TOGETHER),
        Scenario("second", "the second of two turns at once", TOGETHER),
    )
    for played, other in ((first, second), (second, first)):
        expect_turned(played)
        given = [word for word in other.words.values() for call in played.calls if word.encode() in call.request.body]
        expect(not given, "requests without a word of the other turn", f"{given[:1]}", "keep turns apart")
        expect(other.answered not in played.ran.stdout, "its own answer alone", shown(played), "keep turns apart")
    sessions = [{event.get("sessionID") for event in events_of(played.ran)} for played in (first, second)]
    expect(sessions[0].isdisjoint(sessions[1]), "a session of its own for each", f"{sessions}", "keep sessions apart")
