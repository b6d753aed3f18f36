"""The environment of a run, and the secrets in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

import pytest

from harness.actors import JournalReader
from harness.check import expect
from harness.expectations import expect_no_calls
from harness.fixtures.kilo_agent import LARGE, PLAIN, Turn, declared
from harness.kilo_agent_actors import Agents, Run

OPENAI_KEY, PROVIDER_KEY = "canary-of-openai-4711", "canary-of-provider-4712"
"""What stands for secrets, to be looked for where none may be."""

BOTH: Mapping[str, Any] = {
    **PLAIN,
    "openai_base_url": "{decoy_url}",
    "openai_api_key": OPENAI_KEY,
    "kilo_config": {"provider": {"nemo": {"options": {"apiKey": PROVIDER_KEY}}}},
}
"""A model server, and another address with a key."""

OWN: Mapping[str, Any] = {**declared(), "openai_base_url": "{model_url}", "openai_api_key": OPENAI_KEY}
"""No model server, and an address with a key."""

PROXIES = ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy")


@pytest.mark.requirement("KA-ENV-1")
def test_the_environment_names_the_model_server(starter: Agents, agent_turn: Turn, only_run: Callable[[], Run]) -> None:
    """And not the address that the configuration has for OpenAI, nor its key."""
    agent_turn(starter.start("agent", BOTH), "plain")
    run = only_run()
    url, key = run.env.get("OPENAI_BASE_URL", ""), run.env.get("OPENAI_API_KEY", "")
    provider = (run.settings or {}).get("provider", {}).get("nemo", {})
    server = provider.get("options", {}).get("baseURL", "")
    same = urlsplit(url)[:2] == urlsplit(server)[:2] and "decoy" not in url
    mend = "set OPENAI_BASE_URL from the resolved address of the model server, whatever openai_base_url says"
    expect(bool(server) and same, f"OPENAI_BASE_URL at the model server, like {server!r}", repr(url), mend)
    mend = "put a placeholder in the place of a key that the model server does not want"
    expect(bool(key) and key != OPENAI_KEY, "a placeholder as OPENAI_API_KEY", repr(key), mend)


@pytest.mark.requirement("KA-ENV-2")
@pytest.mark.parametrize("configuration", [BOTH, OWN], ids=["model server", "own provider"])
def test_no_key_is_in_the_arguments(
    starter: Agents, agent_turn: Turn, only_run: Callable[[], Run], configuration: Mapping[str, Any]
) -> None:
    """Arguments are there for every user of the machine to see."""
    agent_turn(starter.start("agent", configuration), "plain")
    shown = [argument for argument in only_run().argv if OPENAI_KEY in argument or PROVIDER_KEY in argument]
    expect(not shown, "no key in the arguments", repr(shown), "hand keys over in kilo.json or the environment")


@pytest.mark.requirement("KA-ENV-2")
def test_a_file_with_a_key_is_for_its_owner_alone(
    starter: Agents, agent_turn: Turn, only_run: Callable[[], Run]
) -> None:
    """No other user may read a `kilo.json` that holds a key."""
    agent_turn(starter.start("agent", BOTH), "plain")
    file = only_run().settings_file or {"text": "", "mode": 0}
    expect(PROVIDER_KEY in str(file["text"]), "the key of the provider in kilo.json", repr(file), "keep it")
    closed = not int(file["mode"]) & 0o077
    expect(closed, "kilo.json with mode 600", f"{int(file['mode']):o}", "create kilo.json with mode 600")


@pytest.mark.requirement("KA-ENV-3")
def test_a_proxy_does_not_get_the_model_calls(starter: Agents, agent_turn: Turn, journal: JournalReader) -> None:
    """They hold the key, and the server is on this machine."""
    env = {**dict.fromkeys(PROXIES, "{resources_url}"), "NO_PROXY": "", "no_proxy": ""}
    agent = starter.start("agent", {"model": LARGE, "model_server": "{model_url}"}, env=env)
    agent_turn(agent, "plain")
    expect_no_calls(journal.read("proxied", "resources"), "the proxy", "a model server on this machine")
