"""What `kilo.json` says of the model server, and of the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

import pytest

from harness.actors import JournalReader
from harness.check import expect
from harness.fixtures.kilo_agent import LARGE, MERGED, OWN_SETTINGS, PLAIN, SMALL, Turn
from harness.kilo_agent_actors import Agents, Run

NPM = "@ai-sdk/openai-compatible"
SMALLEST: Mapping[str, Any] = {**PLAIN, "model": SMALL, "kilo_config": {}}
ALL_GIVEN: Mapping[str, Any] = {"context_window": 65536, "max_output_tokens": 2048, "reasoning_field": "reasoning"}
MEND = (
    "build kilo.json from the configuration and the model server's address, then write it, whatever kilo_config holds"
)


def _provider_in(run: Run) -> Mapping[str, Any]:
    """The provider of the model server in the run's `kilo.json`."""
    provider = _object(_object(_object(run.settings).get("provider")).get("nemo"))
    expect(bool(provider), "provider nemo in kilo.json", repr(run.settings), MEND)
    return provider


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _model_in(run: Run, name: str) -> Mapping[str, Any]:
    models = _object(_provider_in(run).get("models"))
    expect(name in models, f"the model under its bare name {name!r}", repr(models), MEND)
    return _object(models[name])


@pytest.mark.requirement("KA-CONF-1")
@pytest.mark.parametrize("configuration", [PLAIN, SMALLEST], ids=[LARGE, SMALL])
def test_the_model_server_alone_is_enough(
    starter: Agents, agent_turn: Turn, only_run: Callable[[], Run], configuration: Mapping[str, Any]
) -> None:
    """Also with an empty `kilo_config`, and for a model with a slash in its name as for one without."""
    agent = starter.start("agent", configuration)
    agent_turn(agent, "plain")
    run, name = only_run(), configuration["model"]
    provider = _provider_in(run)
    options = _object(provider.get("options"))
    expect(provider.get("npm") == NPM, f"npm {NPM!r}", repr(provider.get("npm")), MEND)
    path = urlsplit(str(options.get("baseURL"))).path.rstrip("/")
    expect(path == "/v1", "options.baseURL at the model server, with /v1", repr(options.get("baseURL")), MEND)
    key = options.get("apiKey")
    expect(isinstance(key, str) and bool(key), "an options.apiKey, were it a placeholder", repr(key), MEND)
    model = _model_in(run, name)
    expect(bool(model.get("name")), "the model with a name", repr(model), MEND)
    limit = _object(model.get("limit"))
    whole = all(isinstance(limit.get(one), int) for one in ("context", "output"))
    expect(whole, "the model with both of its limits", repr(model), MEND)
    field = _object(model.get("interleaved")).get("field")
    expect(isinstance(field, str), "the model with interleaved.field", repr(model), "name the field of its reasoning")


@pytest.mark.requirement("KA-CONF-1")
@pytest.mark.parametrize("configuration", [PLAIN, SMALLEST], ids=[LARGE, SMALL])
def test_the_model_is_asked_by_its_bare_name(
    starter: Agents, agent_turn: Turn, journal: JournalReader, configuration: Mapping[str, Any]
) -> None:
    """The CLI finds the model that it is told of, and the model server the name that it knows."""
    agent_turn(starter.start("agent", configuration), "plain")
    asked = {_object(call.request.json()).get("model") for call in journal.read("calls", "model")}
    expect(asked == {configuration["model"]}, f"calls for {configuration['model']}", repr(asked), MEND)


@pytest.mark.requirement("KA-CONF-4")
@pytest.mark.parametrize(("given", "output"), [({}, 8192), (ALL_GIVEN, 2048)], ids=["defaults", "all given"])
def test_the_limit_of_the_output_is_what_is_asked_for(
    starter: Agents, agent_turn: Turn, journal: JournalReader, given: Mapping[str, Any], output: int
) -> None:
    """Where it fits the window, the CLI passes it on."""
    agent_turn(starter.start("agent", {**PLAIN, **given}), "plain")
    bodies = [_object(call.request.json()) for call in journal.read("calls", "model")]
    asked = {body.get("max_tokens", body.get("max_completion_tokens")) for body in bodies if body.get("tools")}
    expect(asked == {output}, f"calls for {output} tokens at most", repr(asked), "set limit from the configuration")


@pytest.mark.requirement("KA-CONF-2")
def test_own_settings_of_the_provider_win(starter: Agents, agent_turn: Turn, only_run: Callable[[], Run]) -> None:
    """All but the address, at any depth; what is not said stays as it would be."""
    agent = starter.start("agent", MERGED)
    agent_turn(agent, "plain")
    run = only_run()
    provider, options = _provider_in(run), _object(_provider_in(run).get("options"))
    mend = "let what kilo_config says of provider nemo win, except baseURL"
    expect(provider.get("name") == "Ours", "the provider's own name", repr(provider), mend)
    own = (options.get("apiKey"), options.get("timeout"))
    expect(own == (OWN_SETTINGS["options"]["apiKey"], 77000), "the provider's own options", repr(options), mend)
    for name, model in OWN_SETTINGS["models"].items():
        came = {key: _model_in(run, name).get(key) for key in model}
        expect(came == model, f"the own entry of {name}", repr(came), mend)
    expect(provider.get("npm") == NPM, f"npm {NPM!r}, of which nothing was said", repr(provider), mend)
    shared = _object(run.settings).get("share")
    expect(shared == "disabled", "what kilo_config says beside the provider", repr(shared), mend)


@pytest.mark.requirement("KA-CONF-2")
def test_a_stale_address_is_replaced(starter: Agents, agent_turn: Turn, journal: JournalReader) -> None:
    """The model server is asked, and the address in `kilo_config` is not."""
    agent_turn(starter.start("agent", MERGED), "plain")
    calls = journal.read("model calls", "model")
    away = [call.request.path for call in calls if call.request.path.startswith("/decoy")]
    expect(bool(calls), "a call to the model server", "none", MEND)
    expect(not away, "no call to the address in kilo_config", repr(away), "put the resolved address over baseURL")


LIMITS: Mapping[str, tuple[Mapping[str, Any], tuple[int, int], Any]] = {
    "defaults": ({}, (32768, 8192), {"field": "reasoning_content"}),
    "no reasoning field": ({"reasoning_field": None}, (32768, 8192), None),
    "all given": (ALL_GIVEN, (65536, 2048), {"field": "reasoning"}),
}


@pytest.mark.requirement("KA-CONF-4")
@pytest.mark.parametrize(("given", "limits", "interleaved"), LIMITS.values(), ids=LIMITS)
def test_limits_and_reasoning_field(
    starter: Agents,
    agent_turn: Turn,
    only_run: Callable[[], Run],
    given: Mapping[str, Any],
    limits: tuple[int, int],
    interleaved: Any,
) -> None:
    """What is not given has its default; a field of null is left out."""
    agent_turn(starter.start("agent", {**PLAIN, **given}), "plain")
    model = _model_in(only_run(), LARGE)
    limit = _object(model.get("limit"))
    came = (limit.get("context"), limit.get("output"))
    expect(
        came == limits, f"limits of {limits[0]} and {limits[1]} tokens", repr(limit), "set limit from the configuration"
    )
    came_field = model.get("interleaved")
    mend = "set interleaved.field to the reasoning field, and leave it out for null"
    expect(came_field == interleaved, f"interleaved {interleaved}", repr(came_field), mend)
