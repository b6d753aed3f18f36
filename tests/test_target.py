from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.errors import UsageError
from harness.target import Agent, Facts, Policies, Ready, Start, Target, mentions
from harness.target_keys import FromEnvironment, Key, KeyFacts, Request


def _target(start: Start | None = None) -> Target:
    return Target(
        kind="agent-endpoint",
        name="n",
        source="my.toml",
        folder=Path("/somewhere"),
        url=None if start else "http://somewhere",
        start=start,
        ready=Ready(),
        agents=(Agent("a/b", "p", "m/1"), Agent("c", no_model=True)),
        keys=(
            Key("main", "valid", ("a/b",), FromEnvironment("SOME_VARIABLE")),
            Key("old", "revoked", ("a/b", "c"), FromEnvironment("OTHER"), Request("POST", "/revoke", {})),
        ),
        capabilities=("mint",),
        policies=Policies(history="full"),
        deadline=20.0,
    )


def test_facts_survive_json() -> None:
    facts = _target().facts
    assert Facts.from_json(json.loads(json.dumps(facts.to_json()))) == facts


def test_facts_hold_what_checks_may_see() -> None:
    assert _target().facts == Facts(
        kind="agent-endpoint",
        name="n",
        agents=(Agent("a/b", "p", "m/1"), Agent("c", no_model=True)),
        keys=(KeyFacts("main", "valid", ("a/b",)), KeyFacts("old", "revoked", ("a/b", "c"))),
        capabilities=("mint",),
        policies=Policies(history="full"),
        deadline=20.0,
        abort_grace=1.0,
        url_given=True,
    )


def test_the_rate_cap_of_a_key_survives_json() -> None:
    facts = replace(_target().facts, keys=(KeyFacts("capped", "valid", ("c",), rate_cap=2),))
    assert Facts.from_json(json.loads(json.dumps(facts.to_json()))) == facts


def test_how_an_agent_is_asked_survives_json_and_is_left_out_where_it_is_as_usual() -> None:
    facts = replace(_target().facts, asked="argument")
    assert Facts.from_json(json.loads(json.dumps(facts.to_json()))) == facts
    assert "asked" not in _target().facts.to_json()


def test_facts_of_a_started_target_say_that_no_url_was_given() -> None:
    assert not _target(Start(("run",), {})).facts.url_given


@pytest.mark.parametrize("private", ["SOME_VARIABLE", "OTHER", "/revoke", "somewhere", "my.toml"])
def test_facts_name_no_address_and_no_source_of_a_key(private: str) -> None:
    assert private not in json.dumps(_target().facts.to_json())


def test_an_undeclared_policy_is_left_out_of_the_json() -> None:
    assert _target().facts.to_json()["policies"] == {"history": "full"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "x"}, 'kind: "x" is not one of agent-endpoint'),
        ({"agents": None}, "agents: must be an array, not null"),
        ({"deadline": "20"}, "deadline: must be a number, not a string"),
        ({"extra": 1}, "extra: unknown key; known here: "),
        ({"policies": {"history": None}}, "policies.history: null is not one of full, last_user"),
    ],
)
def test_recorded_facts_that_were_changed_are_a_usage_error(change: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        Facts.from_json(_target().facts.to_json() | change)
    assert caught.value.message.startswith(f"the recorded facts of the target cannot be read: {message}")


@pytest.mark.parametrize("data", [None, [], "facts", {}])
def test_what_is_no_record_of_facts_is_a_usage_error(data: object) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        Facts.from_json(data)


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        (None, False),
        (Start(("run", "--upstream={opencode_url}"), {}), True),
        (Start(("run",), {"UPSTREAM": "{opencode_url}/x"}), True),
        (Start(("run", "{{opencode_url}}"), {"opencode_url": "{port}"}), False),
    ],
)
def test_a_target_mentions_what_its_command_or_environment_holds(start: Start | None, expected: bool) -> None:
    assert mentions(_target(start), "opencode_url") is expected
