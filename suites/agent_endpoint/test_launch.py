"""An endpoint that starts its opencode says so when that fails."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.chat import ask
from harness.check import NotApplicable, expect
from harness.expectations import expect_refusal
from harness.fakes.opencode.shim import LAUNCH_FAULTS, LaunchFault
from harness.launcher import Launcher
from harness.target import Agent, Facts
from harness.target_keys import KeyFacts

MEND = "take for opencode only the process that was started, once it said that it listens; and answer 502 without it"


@pytest.mark.requirement("AE-FAULT-1")
@pytest.mark.parametrize("fault", LAUNCH_FAULTS)
def test_an_opencode_that_cannot_be_started_is_a_502(
    launcher: Launcher,
    nonce: Callable[[str], str],
    target: Facts,
    key: KeyFacts,
    agent: Agent,
    expect_plain_turn: Callable[[str], None],
    fault: LaunchFault,
) -> None:
    """The target is started a second time, and finds another opencode on its PATH."""
    if "launches" not in target.capabilities:
        raise NotApplicable("the target does not declare the capability launches")
    expect_plain_turn("with an opencode that can be started")
    launched = launcher.ask("launch", fault, ask(agent.id, nonce("asked")), key=key.name)
    up = launched.reply is not None
    expect(up, f"an endpoint that is up when opencode is {fault}", launched.why, "start opencode when it is needed")
    assert launched.reply is not None
    expect_refusal(launched.reply, {502}, f"a turn whose opencode cannot be started: {fault}", MEND)
