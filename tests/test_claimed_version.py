from __future__ import annotations

import json
from dataclasses import replace

from harness.claimed_version import claiming, is_known
from harness.exchange import Exchange, Request
from harness.results import Act
from tests.sample_results import exchange, results

HEALTH = exchange(1, Request("GET", "/global/health"), [b'{"healthy":true,', b'"version":"1.18.33"}'], 200)


def claimed(one: Exchange) -> Exchange:
    return claiming(results(exchanges=[one]), "1.18.14").exchanges[one.number]


def test_server_says_that_it_is_the_other_version() -> None:
    found = claimed(HEALTH)
    assert found.json() == {"healthy": True, "version": "1.18.14"}
    assert [chunk.at for chunk in found.chunks] == [chunk.at for chunk in HEALTH.chunks]


def test_all_else_is_as_it_was_recorded() -> None:
    others = [
        replace(HEALTH, hop="opencode"),
        replace(HEALTH, request=Request("GET", "/session")),
        exchange(1, Request("GET", "/global/health"), [b"[]"]),
        exchange(1, Request("GET", "/global/health"), [b'{"healthy":true}']),
        exchange(1, Request("GET", "/global/health"), []),
    ]
    assert [claimed(one) for one in others] == others


def test_command_says_that_it_is_the_other_version() -> None:
    acts = [Act("c", "kilo", "version", None, {"version": "7.7.9"}), Act("c", "kilo", "plain", {}, {"status": 0})]
    found = claiming(replace(results(), acts=tuple(acts)), "7.7.2").acts
    assert found == (Act("c", "kilo", "version", None, {"version": "7.7.2"}), acts[1])


def test_record_itself_is_not_changed() -> None:
    sample = results(exchanges=[HEALTH])
    before = json.dumps(sample.header.to_json())
    claiming(sample, "1.0.0")
    assert (json.dumps(sample.header.to_json()), sample.exchanges[1]) == (before, HEALTH)


def test_of_a_kilo_only_recorded_versions_are_known() -> None:
    assert is_known("kilo_cli", "7.7.9")
    assert not is_known("kilo_cli", "7.7.8")
    assert is_known("opencode_server", "1.18.20")
