"""`turnproof record kilo@VERSION`: every start that is recorded, made with a CLI, and what each came to."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from harness.behind import ModelAlone, model_alone
from harness.engine import Engine
from harness.fakes.kilo.rules import FILE
from harness.fakes.model.script import Answer, Rule
from harness.fetch import fetch
from harness.journal import Journal
from harness.kilo_actor import filled
from harness.kilo_cli import MODELS, Cli
from harness.kilo_outcome import outcome
from harness.kilo_recorded import file_name, folder_of, held_against, recorded
from harness.kilo_starts import Scenario, scenarios
from harness.record.kilo_compare import differences
from harness.record.kilo_rules import rules
from harness.record.recording import write
from harness.work_folder import work_folder

SECONDS = 120.0
"""How long a start may take before it counts as never ending."""

HANG_SECONDS = 90.0
"""The same for starts of which it is known that a version never ends them."""

_WORDS = {"asked": "tpaskedaskedaskedaskedas", "answered": "tpansweredansweredanswer"}


def record(
    command: Sequence[str],
    names: Collection[str] = (),
    workers: int = 2,
    seconds: float = SECONDS,
    hang_seconds: float = HANG_SECONDS,
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Name and outcome of each of the named starts (of all when none is named), so many at once, in their order."""
    wanted = [scenario for scenario in scenarios() if not names or scenario.name in names]
    with Engine() as engine, work_folder() as folder:

        def play(number: int, scenario: Scenario) -> dict[str, Any]:
            within = hang_seconds if scenario.may_hang else seconds
            return _play(scenario, engine, command, folder / str(number), within)

        with ThreadPoolExecutor(workers) as pool:
            under_way = [pool.submit(play, number, scenario) for number, scenario in enumerate(wanted)]
            for scenario, future in zip(wanted, under_way, strict=True):
                yield scenario.name, {"about": scenario.about, **future.result()}


def record_version(version: str, out: Path, say: Callable[[str], None]) -> Iterator[str]:
    """Record the real CLI of a version under `out`, and write the rules that follow; what is said line by line.

    The last lines tell where it differs from what was recorded of that version, or else of the newest.
    """
    binary = fetch(f"kilo@{version}", say=say)
    folder = folder_of(version, out)
    fresh: dict[str, dict[str, Any]] = {}
    for name, kept in record([str(binary)]):
        fresh[file_name(name)] = kept
        write(folder, file_name(name), kept)
        yield name
    other = held_against(version)
    before = recorded(other)
    for name, kept in fresh.items():
        for line in differences(name, before[name], kept) if name in before else ["+ not recorded before"]:
            yield f"differs from {other}: {kept['about']}: {line}"
    table = json.dumps(rules(version, fresh), indent=1) + "\n"
    (folder / FILE).write_text(table, encoding="utf-8")


def _play(scenario: Scenario, engine: Engine, command: Sequence[str], work: Path, within: float) -> dict[str, Any]:
    journal = Journal()
    scenario = filled(scenario, _WORDS)
    with model_alone(engine, journal, ModelAlone(frozenset(MODELS))) as behind:
        nonce = _WORDS["asked"] if scenario.named else None
        behind.use_model_rules((Rule(nonce, scenario.steps or (Answer(),), scenario.summary),))
        ran = Cli(engine, command, work, behind.model_url).begin(scenario.start).result(within)
        calls = journal.close_window().exchanges
    words = {word: f"{{{name}}}" for name, word in _WORDS.items()}
    return outcome(ran, [call for call in calls if call.hop == "model"], words)
