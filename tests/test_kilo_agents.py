from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from harness.builtin import find_target
from harness.check import NotMeasured
from harness.errors import TargetNotReady
from harness.exchange import Exchange, Request
from harness.fakes.model.script import Answer, Rule
from harness.fixtures.kilo_agent import MERGED, PLAIN
from harness.kilo_agent_actors import Kilo
from harness.kilo_agent_target import OVER, REFERENCE, part_of
from harness.kilo_agents import LiveAgents, Wanted
from harness.kilo_behind import KiloPart
from harness.launch import launched
from harness.up import of_other_kind
from harness.world import LiveWorld


@pytest.fixture
def agents() -> Iterator[LiveAgents]:
    with launched(find_target(REFERENCE), KiloPart()) as launch:
        assert isinstance(launch.live, LiveAgents)
        yield launch.live


def respond(agents: LiveAgents, wanted: Wanted, prompt: str = "hi") -> Exchange:
    request = Request("POST", "/v1/responses", (), json.dumps({"input": prompt}).encode())
    return agents.find(agents.ask(wanted, request, "ask").result())


def test_agents_that_are_wanted_alike_are_one(agents: LiveAgents) -> None:
    first = agents.start(Wanted(PLAIN))
    assert agents.start(Wanted(dict(PLAIN))) == first
    assert agents.start(Wanted(MERGED)) != first


def test_a_turn_goes_through_the_stand_in_which_writes_it_down(agents: LiveAgents) -> None:
    agents.use_model_rules((Rule("asked", (Answer(text="answered"),)),))
    agents.start(Wanted(PLAIN))
    reply = respond(agents, Wanted(PLAIN), "asked")
    assert "answered" in reply.text
    (run,) = agents.behind.runs()
    assert (run["argv"][0], run["argv"][-1], run["status"]) == ("run", "asked", 0)
    assert not Path(run["cwd"]).exists()
    assert "USER" not in run["env"]
    agents.close_window()
    assert agents.behind.runs() == []


def test_what_agents_write_is_heard() -> None:
    reference = find_target(REFERENCE)
    assert reference.start is not None
    loud = ("sh", "-c", 'echo "KeyError" >&2; exec "$@"', "sh", *reference.start.command)
    with launched(replace(reference, start=replace(reference.start, command=loud)), KiloPart()) as launch:
        assert isinstance(launch.live, LiveAgents)
        launch.live.start(Wanted(PLAIN))
        assert launch.hearing.text() == "KeyError\n"


@pytest.fixture
def over_a_real_cli() -> Iterator[LiveAgents]:
    target = find_target(f"{OVER}7.7.9")
    with launched(target, part_of(target, lambda *_: None)) as launch:
        assert isinstance(launch.live, LiveAgents)
        yield launch.live


def test_what_a_real_cli_was_given_is_written_down_too(over_a_real_cli: LiveAgents) -> None:
    agents = over_a_real_cli
    agents.use_model_rules((Rule("asked", (Answer(text="answered"),)),))
    agents.start(Wanted(PLAIN))
    assert "answered" in respond(agents, Wanted(PLAIN), "asked").text
    (run,) = agents.behind.runs()
    assert (run["argv"][0], run["argv"][-1], run["status"]) == ("run", "asked", None)
    assert [Path(file["path"]).name for file in run["files"]] == ["kilo.json"]


def test_a_real_cli_is_not_told_what_to_do(over_a_real_cli: LiveAgents) -> None:
    with pytest.raises(NotMeasured, match="cannot be told what to do"):
        Kilo(LiveWorld("check", "seed", over_a_real_cli.find), over_a_real_cli).behave("behave", exit=3)


def test_the_file_of_the_configuration_is_watched(agents: LiveAgents) -> None:
    wanted = Wanted(PLAIN)
    agents.start(wanted)
    assert agents.keeps_configuration(wanted)
    next(Path(agents.behind.folder.parent).rglob("configuration.json")).write_text("{}")
    assert not agents.keeps_configuration(wanted)


def test_the_cli_behaves_as_told_until_the_window_closes(agents: LiveAgents) -> None:
    agents.start(Wanted(PLAIN))
    agents.behind.behave({"faults": {"exit": 3}})
    assert respond(agents, Wanted(PLAIN)).json()["status"] == "failed"
    agents.behind.take_away()
    assert "never_ran" in respond(agents, Wanted(PLAIN)).text
    agents.close_window()
    assert respond(agents, Wanted(PLAIN)).json()["status"] == "completed"


def test_an_agent_that_is_still_busy_is_ended_with_its_window(agents: LiveAgents) -> None:
    agents.start(Wanted(PLAIN))
    agents.behind.behave({"faults": {"hang": "start"}})
    request = Request("POST", "/v1/responses", (), b'{"input": "hi"}')
    agents.ask(Wanted(PLAIN), request, "ask")
    assert agents.wait("client", lambda seen: len(seen) == 1, 5)
    agents.close_window()
    agents.start(Wanted(PLAIN))
    assert respond(agents, Wanted(PLAIN)).json()["status"] == "completed"


def test_addresses_in_a_projects_files_are_filled_in(agents: LiveAgents) -> None:
    wanted = Wanted(PLAIN, {"MARK": "{project}"}, {"a/b.json": '{"url": "{decoy_url}"}'})
    agents.start(wanted)
    (file,) = Path(agents.behind.folder.parent).rglob("b.json")
    assert file.read_text() == f'{{"url": "{agents.behind.model.url}/decoy/v1"}}'


def test_an_agent_that_does_not_come_up_is_not_ready() -> None:
    reference = find_target(REFERENCE)
    assert reference.start is not None
    broken = replace(reference, start=replace(reference.start, command=("{python}", "-c", "raise SystemExit('no')")))
    with launched(broken, KiloPart()) as launch:
        assert isinstance(launch.live, LiveAgents)
        with pytest.raises(TargetNotReady) as caught:
            launch.live.start(Wanted(PLAIN))
    assert "no" in caught.value.log


def test_the_model_server_shows_itself_as_told(agents: LiveAgents) -> None:
    agents.behind.show("vllm-0.10.0")
    assert agents.behind.model.face.window == 32768
    agents.close_window()
    assert agents.behind.model.face.window is None


def test_holding_it_up_starts_an_agent_that_can_be_asked() -> None:
    with launched(find_target(REFERENCE), KiloPart()) as launch:
        text = of_other_kind(launch)
    assert "/v1/responses" in text
    assert "resources server" in text
