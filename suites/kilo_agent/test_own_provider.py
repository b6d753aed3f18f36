"""Without a model server: the provider is the configuration's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from harness.actors import JournalReader
from harness.check import expect
from harness.exchange import header
from harness.expectations import shown
from harness.fixtures.kilo_agent import HOUSE, IN_HOUSE, LARGE, Turn, declared
from harness.kilo_agent_actors import Agents, Kilo, Run
from harness.kilo_answers import is_finished

MEND = "without a model server, add to kilo.json no more than the model, to a provider that is declared"
ENTRY = {"name": "Mine", "limit": {"context": 20000, "output": 1000}, "options": {"seed": 7}}


def _providers(run: Run) -> Mapping[str, Any]:
    providers = (run.settings or {}).get("provider")
    expect(isinstance(providers, dict) and "house" in providers, "the declared provider", repr(run.settings), MEND)
    return dict(providers or {})


@pytest.mark.requirement("KA-CONF-3")
def test_the_model_is_added_to_the_declared_provider(
    starter: Agents, agent_turn: Turn, only_run: Callable[[], Run]
) -> None:
    """The provider stays as it is otherwise, none comes to it, and the model has its limits."""
    agent_turn(starter.start("agent", declared()), "plain")
    run = only_run()
    providers = _providers(run)
    expect(list(providers) == ["house"], "the declared provider and no other", repr(list(providers)), MEND)
    house = dict(providers["house"])
    models = house.pop("models", None) or {}
    named = {name: house.get(name) for name in ("npm", "name")}
    expect(named == {name: HOUSE[name] for name in named}, "the provider as it was declared", repr(named), MEND)
    key = (house.get("options") or {}).get("apiKey")
    expect(key == "house-key", "the provider's own key", repr(key), MEND)
    limit = (models.get(LARGE) or {}).get("limit") or {}
    limited = all(isinstance(limit.get(name), int) for name in ("context", "output"))
    expect(limited, f"the model {LARGE} with its limits", repr(models), MEND)


@pytest.mark.requirement("KA-CONF-3")
def test_an_entry_of_its_own_is_untouched(starter: Agents, agent_turn: Turn, only_run: Callable[[], Run]) -> None:
    """A model that the provider lists already is listed just so."""
    agent_turn(starter.start("agent", declared({LARGE: ENTRY})), "plain")
    models = _providers(only_run())["house"].get("models")
    expect(models == {LARGE: ENTRY}, "the entry as it was declared", repr(models), MEND)


@pytest.mark.requirement("KA-CONF-3")
@pytest.mark.parametrize("models", [None, {LARGE: ENTRY}], ids=["added", "listed"])
def test_the_declared_provider_is_asked(
    starter: Agents, agent_turn: Turn, journal: JournalReader, models: Mapping[str, Any] | None
) -> None:
    """For the model by its own name, with the provider's key."""
    agent_turn(starter.start("agent", declared(models)), "plain")
    calls = [call.request for call in journal.read("calls", "model")]
    asked = {(request.json() or {}).get("model") for request in calls}
    expect(asked == {LARGE}, f"calls for the model {LARGE}", repr(asked), MEND)
    keys = {header(request.headers, "authorization") for request in calls}
    expect(keys == {"Bearer house-key"}, "calls with the provider's own key", f"{len(keys)} others", MEND)


@pytest.mark.requirement("KA-CONF-3")
def test_an_unknown_provider_is_not_made_up(starter: Agents, any_cli: Kilo, agent_turn: Turn) -> None:
    """A model of a provider that is nowhere declared leads to no such provider, and to no answer."""
    agent_turn(starter.start("control", declared()), "control")
    agent = starter.start("agent", {**declared(), "model": f"elsewhere/{LARGE}"})
    reply = agent.respond("reply", "Hello")
    expect(reply.status is not None and not is_finished(reply), "no finished answer", shown(reply), MEND, reply)
    runs = any_cli.runs("runs")
    for run in runs[1:]:
        expect(list(_providers(run)) == ["house"], "the declared provider alone", repr(run.settings), MEND)


@pytest.mark.requirement("KA-CONF-3")
def test_an_empty_configuration_writes_no_file(starter: Agents, any_cli: Kilo, agent_turn: Turn) -> None:
    """With neither a model server nor a provider there is nothing to write."""
    agent_turn(starter.start("control", declared()), "control")
    agent = starter.start("agent", {"model": IN_HOUSE, "model_server": None})
    reply = agent.respond("reply", "Hello")
    expect(reply.status is not None and not is_finished(reply), "no finished answer", shown(reply), MEND, reply)
    written = [run.settings for run in any_cli.runs("runs")[1:] if run.settings_file is not None]
    expect(not written, "no kilo.json", repr(written), MEND)
