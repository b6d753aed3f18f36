from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from harness.fakes.model.server import ModelServer
from harness.fakes.opencode.shim import LAUNCH_FAULTS, LaunchFault, write_shim
from harness.reference.endpoint.config import Config, Launching
from harness.reference.endpoint.launched import LaunchedOpencode, opencode_of, settings
from harness.reference.endpoint.opencode import SESSION_OPTIONS, Opencode, OpencodeError, read_events

AGENTS = {"writer": "litellm/small-1", "draft": None, "research": "litellm/vendor/large-1"}
Scenario = Callable[[Opencode], Awaitable[object]]
Run = Callable[[Scenario, LaunchFault | None], object]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Plays a scenario with an endpoint's opencode that has this fault."""

    def play(scenario: Scenario, fault: LaunchFault | None = None) -> object:
        python = Path(shutil.which("python3") or "").parent
        monkeypatch.setenv("PATH", os.pathsep.join([str(tmp_path / "bin"), str(python), "/usr/bin", "/bin"]))
        write_shim(tmp_path / "bin", fault=fault)

        async def main() -> object:
            model = ModelServer({"small-1"})
            await model.start()
            launching = Launching(f"{model.url}/v1", str(tmp_path / "opencode"), within=20.0)
            opencode = opencode_of(Config(AGENTS, ":memory:", "owner", launching=launching), read_events)
            await opencode.open()
            try:
                return await scenario(opencode)
            finally:
                await opencode.close()
                await model.stop()

        return asyncio.run(main())

    return play


async def session(opencode: Opencode) -> str:
    return await opencode.create_session(SESSION_OPTIONS)


def test_opencode_is_started_for_the_first_session(run: Run) -> None:
    assert str(run(session, None)).startswith("ses_")


def test_opencode_that_ended_is_started_again(run: Run) -> None:
    async def scenario(opencode: Opencode) -> str:
        await session(opencode)
        assert isinstance(opencode, LaunchedOpencode)
        await asyncio.to_thread(opencode.server.stop)
        return await session(opencode)

    assert str(run(scenario, None)).startswith("ses_")


def test_start_goes_on_when_the_turn_that_it_was_begun_for_is_given_up(run: Run) -> None:
    async def scenario(opencode: Opencode) -> str:
        given_up = asyncio.create_task(session(opencode))
        await asyncio.sleep(0)
        given_up.cancel()
        return await session(opencode)

    assert str(run(scenario, None)).startswith("ses_")


@pytest.mark.parametrize("fault", [fault for fault in LAUNCH_FAULTS if fault != "never ready"])
def test_opencode_that_cannot_be_started_is_told(run: Run, fault: LaunchFault) -> None:
    with pytest.raises(OpencodeError):
        run(session, fault)


def test_an_endpoint_that_is_told_where_opencode_is_starts_none() -> None:
    config = Config(AGENTS, ":memory:", "owner", opencode_url="http://127.0.0.1:1")
    assert type(opencode_of(config, read_events)) is Opencode


def test_the_agents_models_are_configured_under_their_providers() -> None:
    made = settings(Config(AGENTS, ":memory:", "owner"), "http://model/v1")
    assert made["provider"]["litellm"]["models"] == {"small-1": {}, "vendor/large-1": {}}
