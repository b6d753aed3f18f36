"""`turnproof record`: plays every scenario on an opencode server and keeps what came."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from harness import opencode, stack
from harness.engine import Engine
from harness.fakes.opencode.settings import merged
from harness.fakes.opencode.shim import write_shim
from harness.journal import Journal
from harness.record.recording import recording
from harness.record.scenario import Scenario
from harness.record.scenes import scenarios
from harness.record.stage import Stage, Starter
from harness.stand_ins import StandIn
from harness.supervised import Supervised
from harness.work_folder import work_folder

QUIET = 0.4
"""Seconds without an event after which a real server has said all: what it does beside a turn comes late."""


def record(
    part: opencode.Part, names: Collection[str] = (), quiet: float = QUIET
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Name and recording of each of the named scenarios (of all when none is named), made on `part`.

    After `quiet` seconds without an event a scenario waits for nothing more.
    """
    wanted = [scenario for scenario in scenarios() if not names or scenario.name in names]
    pace = part.pace if isinstance(part, StandIn) else 1.0
    models = [(opencode.PROVIDER, model) for model in opencode.MODELS]
    with Engine() as engine, work_folder() as folder:
        work = folder.resolve()
        journal = Journal()
        with stack.running(engine, journal, part, models, work) as running:
            starter = _starter(part, running, models, work)
            for scenario in wanted:
                stage = Stage(engine, running, str(work / "project"), quiet, starter)
                yield scenario.name, _play(scenario, stage, running, work, pace)


def _starter(part: opencode.Part, running: stack.Stack, models: Collection[tuple[str, str]], work: Path) -> Starter:
    binary = write_shim(work / "shim", part.pace, flaw=part.flaw) if isinstance(part, StandIn) else part.path

    def start(name: str, username: str, settings: Mapping[str, Any]) -> tuple[Supervised, str, Path]:
        whole = merged(opencode.config(running.far.url, models, running.far.key), settings)
        folder = work / name
        process, url = opencode.start(binary, folder, whole, running.password, username)
        return process, url, folder / "project"

    return start


def _play(scenario: Scenario, stage: Stage, running: stack.Stack, work: Path, pace: float) -> dict[str, Any]:
    try:
        scenario.play(stage)
    finally:
        stage.close()
        running.settle()
        models = [call for call in running.journal.close_window().exchanges if call.hop == "model"]
    places = {
        str(work): "<work>",
        str(work).removeprefix("/"): "<work>",
        running.server_url: "<opencode>",
        running.model_url.removesuffix("/v1"): "<model>",
        running.password: "<password>",
    }
    return recording(scenario.about, stage.calls, stage.heard, models, places, pace)
