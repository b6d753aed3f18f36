from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from harness.errors import UsageError
from harness.pytest_run import Selection, collect, isolated
from harness.requirements import catalogue

SUITE = "agent_endpoint"


def test_every_check_of_the_suite_is_planned_with_its_requirements() -> None:
    planned = collect(SUITE)
    known = {requirement.id for requirement in catalogue(SUITE)}
    assert all(check.requirements and set(check.requirements) <= known for check in planned)
    assert len({check.check for check in planned}) == len(planned)


def test_every_requirement_has_a_check() -> None:
    claimed = {id_ for check in collect(SUITE) for id_ in check.requirements}
    assert claimed == {requirement.id for requirement in catalogue(SUITE)}


def test_expression_selects_as_pytest_does() -> None:
    names = [check.check for check in collect(SUITE, "scope and not exist")]
    assert names
    assert all("scope" in name and "exist" not in name for name in names)


@pytest.mark.parametrize(
    ("expression", "ids"),
    [
        ("AE-REQ-1", {"AE-REQ-1"}),
        ("(AE-REQ-1 or AE-REQ-10) and not surrogate", {"AE-REQ-1", "AE-REQ-10"}),
        ("REQ-1", {"AE-REQ-1", "AE-REQ-10", "AE-REQ-11", "AE-REQ-12"}),
    ],
)
def test_whole_id_selects_one_requirement(expression: str, ids: set[str]) -> None:
    assert {id_ for check in collect(SUITE, expression) for id_ in check.requirements} == ids


def test_ids_do_not_depend_on_where_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = collect(SUITE, "auth")
    monkeypatch.chdir(tmp_path)
    assert collect(SUITE, "auth") == before
    assert all(check.check.startswith("agent_endpoint/") for check in before)


def test_title_is_a_sentence() -> None:
    titles = [check.title for check in collect(SUITE, "done or expired")]
    assert "done is the last thing said" in titles
    assert "a key that is no longer good looks like an unknown one (expired-models)" in titles


def test_expression_that_matches_nothing_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="no check of agent_endpoint matches -k 'nothing_like_it'"):
        collect(SUITE, "nothing_like_it")


@pytest.mark.parametrize("expression", ["and", "a b", "(", "not"])
def test_expression_that_is_none_is_a_usage_error(expression: str) -> None:
    with pytest.raises(UsageError, match="is not an expression"):
        collect(SUITE, expression)


def test_unknown_suite_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="no suite is called 'nothing'"):
        collect("nothing")


def test_user_s_options_and_plugins_are_out_of_the_way_while_it_lasts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", "--no-such-option")
    monkeypatch.setenv("PYTEST_PLUGINS", "no_such_plugin")
    with isolated():
        assert "PYTEST_ADDOPTS" not in os.environ
        assert "PYTEST_PLUGINS" not in os.environ
        assert collect(SUITE, "auth")
    assert (os.environ["PYTEST_ADDOPTS"], os.environ["PYTEST_PLUGINS"]) == ("--no-such-option", "no_such_plugin")


class _Item:
    def __init__(self, nodeid: str, waits: bool = False) -> None:
        self.nodeid, self._waits = nodeid, waits

    def get_closest_marker(self, name: str) -> object:
        return name if self._waits else None


def _ordered(shuffle: str | None) -> list[str]:
    items: Any = [_Item(f"check {number}") for number in range(20)]
    Selection({item.nodeid for item in items[:10]}, shuffle).pytest_collection_modifyitems(items)
    return [item.nodeid for item in items]


def test_selection_keeps_the_order_of_its_checks() -> None:
    assert _ordered(None) == [f"check {number}" for number in range(10)]


def test_a_shuffled_selection_has_the_same_order_in_every_process() -> None:
    assert _ordered("seed") == _ordered("seed") != _ordered(None)
    assert sorted(_ordered("seed")) == sorted(_ordered(None))


@pytest.mark.parametrize(
    ("names", "order"),
    [
        ("q1 q2 w1", "w1 q1 q2"),
        ("q1 w1 q2 q3 q4 q5 w2 q6", "w1 q1 q2 w2 q3 q4 q5 q6"),
        ("q1 q2 q3", "q1 q2 q3"),
        ("w1 w2", "w1 w2"),
    ],
)
def test_checks_that_wait_are_spread_over_the_first_two_thirds(names: str, order: str) -> None:
    items: Any = [_Item(name, waits=name.startswith("w")) for name in names.split()]
    Selection(names.split()).pytest_collection_modifyitems(items)
    assert [item.nodeid for item in items] == order.split()
