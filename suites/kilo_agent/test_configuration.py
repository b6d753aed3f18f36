"""The configuration that the agent is given is its own, and its only one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from harness.actors import JournalReader
from harness.check import Inconclusive, expect
from harness.fixtures.kilo_agent import MERGED, PLAIN, Turn, declared
from harness.kilo_agent_actors import Agents, Kilo

AWAY = json.dumps({"provider": {"nemo": {"options": {"baseURL": "{decoy_url}"}}}})
"""A configuration that leads the model calls away."""
PROJECT = ("opencode.json", "opencode.jsonc", "kilo.jsonc", ".kilo/kilo.json", ".kilocode/kilo.json")
INHERITED = {
    "KILO_CONFIG_CONTENT": AWAY.replace("{", "{{").replace("}", "}}").replace("{{decoy_url}}", "{decoy_url}"),
    "KILO_CONFIG_DIR": "{project}/elsewhere",
}


@pytest.mark.requirement("KA-CONF-5")
@pytest.mark.parametrize("configuration", [MERGED, declared()], ids=["model server", "own provider"])
def test_a_second_run_is_like_the_first(
    starter: Agents, any_cli: Kilo, agent_turn: Turn, configuration: Mapping[str, Any]
) -> None:
    """The same `kilo.json`, and the configuration as it was given."""
    agent = starter.start("agent", configuration)
    agent_turn(agent, "first")
    agent_turn(agent, "second")
    settings = [run.settings for run in any_cli.runs("runs")]
    mend = "build kilo.json from a copy of the configuration"
    if len(settings) != 2 or settings[0] is None:
        raise Inconclusive(f"two runs with a kilo.json were expected, and {len(settings)} runs seen")
    expect(settings[0] == settings[1], f"again {settings[0]}", repr(settings[1]), mend)
    expect(agent.keeps_configuration("kept"), "the configuration as it was given", "a changed file", mend)


@pytest.mark.requirement("KA-CONF-6")
@pytest.mark.parametrize("where", ["project", "environment"])
def test_no_other_configuration_leads_the_calls_away(
    starter: Agents, journal: JournalReader, agent_turn: Turn, where: str
) -> None:
    """Those in the project's folder and those that are inherited all name another address."""
    files = PROJECT if where == "project" else ("elsewhere/kilo.json",)
    project = dict.fromkeys(files, AWAY)
    agent = starter.start("agent", PLAIN, env=INHERITED if where == "environment" else {}, project=project)
    agent_turn(agent, "plain")
    away = [call.request.path for call in journal.read("calls", "model") if call.request.path.startswith("/decoy")]
    mend = "keep other configurations of Kilo out of the run's folder and environment"
    expect(not away, "no call to another address", repr(away), mend)
