from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from harness.reference.endpoint.agents import Model
from harness.reference.endpoint.driver import Driver, Why
from harness.reference.endpoint.opencode import Opencode
from harness.reference.endpoint.parts import Parts
from harness.reference.endpoint.prompt import Prompt
from harness.reference.endpoint.turn import Turn
from tests.reference.endpoint.events import SESSION
from tests.reference.endpoint.opencode_stub import CONNECTED


class _Silent(Opencode):
    """An opencode that takes a prompt and says nothing more."""

    def __init__(self) -> None:
        self.prompted = asyncio.Event()

    async def create_session(self, options: Mapping[str, Any]) -> str:
        return SESSION

    @asynccontextmanager
    async def events(self) -> AsyncIterator[AsyncIterator[dict[str, Any]]]:
        yield self._events()

    async def prompt(self, session: str, model: Model, prompt: Prompt) -> None:
        self.prompted.set()

    async def _events(self) -> AsyncIterator[dict[str, Any]]:
        yield CONNECTED
        await asyncio.Event().wait()


def test_finishing_waits_until_a_cancelled_turn_is_given_up() -> None:
    given_up: list[Why] = []

    async def give_up(_opencode: Opencode, _turn: Turn, why: Why) -> None:
        await asyncio.sleep(0)
        given_up.append(why)

    async def scenario() -> None:
        opencode = _Silent()
        driver = Driver(replace(Parts(), give_up=give_up), budget=5.0, abort_grace=5.0)
        turn = asyncio.create_task(driver.drive(opencode, Model("p", "m"), Prompt("", "hi")))
        await opencode.prompted.wait()
        turn.cancel()
        await driver.finish()

    asyncio.run(scenario())
    assert given_up == ["gone"]


def test_giving_up_that_takes_too_long_is_left() -> None:
    async def give_up(_opencode: Opencode, _turn: Turn, _why: Why) -> None:
        await asyncio.Event().wait()

    async def scenario() -> object:
        opencode = _Silent()
        driver = Driver(replace(Parts(), give_up=give_up), budget=0.01, abort_grace=0.01)
        return await asyncio.wait_for(driver.drive(opencode, Model("p", "m"), Prompt("", "hi")), 5)

    assert asyncio.run(scenario())
