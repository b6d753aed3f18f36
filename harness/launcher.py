"""The actor that starts the target once more, with an opencode that cannot be started."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from harness.check import NotMeasured
from harness.errors import HarnessError, TargetNotReady
from harness.exchange import Exchange, Request, request_to_json
from harness.fakes.opencode.shim import LaunchFault
from harness.launch import Launch
from harness.world import World

Again = Callable[[LaunchFault], AbstractContextManager[Launch]]
"""Launches the target once more, beside the one that is judged."""


@dataclass(frozen=True)
class Launched:
    """What a target came to whose opencode cannot be started: its answer, or why it did not come up."""

    reply: Exchange | None
    why: str


class Launcher:
    """Launches the target once more.

    Raises NotMeasured for one that does not find its opencode in `{shims}`, and for an opencode that is to be missing
    where the machine has one of its own: the target would find that.
    """

    def __init__(self, world: World, again: Again | None, live: bool) -> None:
        self._world, self._again, self._live = world, again, live

    def ask(self, label: str, fault: LaunchFault, request: Request, key: str) -> Launched:
        """Launch the target with this fault, send it `request` with its key of that name, and end it."""

        def perform() -> dict[str, Any] | None:
            if not self._live:
                raise HarnessError("a replayed check reached for the live target")
            return None if self._again is None else _ask(self._again, fault, request, key, label)

        asked = {"fault": fault, "request": request_to_json(request), "key": key}
        seen = self._world.act("launcher", label, asked, perform)
        if seen is None:
            raise NotMeasured("the target does not find its opencode by the placeholder {shims}")
        if seen["installed"]:
            raise NotMeasured("an opencode is installed on PATH here, so that the target cannot be without one")
        number = seen["exchange"]
        return Launched(None if number is None else self._world.exchange(number), seen["why"])


def _ask(again: Again, fault: LaunchFault, request: Request, key: str, label: str) -> dict[str, Any]:
    if fault == "not installed" and shutil.which("opencode") is not None:
        return {"exchange": None, "why": "", "installed": True}
    try:
        with again(fault) as launch:
            headers = (*request.headers, ("authorization", f"Bearer {launch.live.keys[key]}"))
            pending = launch.live.begin(Request(request.method, request.target, headers, request.body), label)
            return {"exchange": pending.result(), "why": "", "installed": False}
    except TargetNotReady as error:
        return {"exchange": None, "why": f"{error.step}: {error.message}", "installed": False}
