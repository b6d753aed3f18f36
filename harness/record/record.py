"""`turnproof record`: plays every scenario on an opencode server and keeps what came."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from harness import opencode, stack
from harness.engine import Engine
from harness.journal import Journal
from harness.record.recording import recording
from harness.record.scenarios import Scenario, scenarios
from harness.record.stage import Stage


def record(part: opencode.Part, names: Collection[str] = ()) -> Iterator[tuple[str, dict[str, Any]]]:
    """Name and recording of each of the named scenarios (of all when none is named), made on `part`."""
    wanted = [scenario for scenario in scenarios() if not names or scenario.name in names]
    models = [(opencode.PROVIDER, model) for model in opencode.MODELS]
    with Engine() as engine, tempfile.TemporaryDirectory(prefix="turnproof-record-") as folder:
        work = Path(folder).resolve()
        journal = Journal()
        with stack.running(engine, journal, part, models, work) as running:
            for scenario in wanted:
                yield scenario.name, _play(scenario, engine, running, work)


def _play(scenario: Scenario, engine: Engine, running: stack.Stack, work: Path) -> dict[str, Any]:
    stage = Stage(engine, running, str(work / "project"))
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
        running.model_tap.url: "<model>",
        running.password: "<password>",
    }
    return recording(scenario.about, stage.calls, stage.heard, models, places)
