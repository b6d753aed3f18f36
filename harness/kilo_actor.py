"""The actor that starts a Kilo CLI, with a scripted model behind it; see `harness.actors`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from harness.actors import JournalReader, Script
from harness.errors import HarnessError
from harness.exchange import Exchange
from harness.fakes.model.script import messages_of
from harness.kilo_cli import Going, Ran, Start
from harness.kilo_desk import KiloDesk, Made
from harness.kilo_outcome import outcome
from harness.kilo_recorded import outcome_of
from harness.kilo_starts import Scenario
from harness.world import World, apply_view, view

_AT_ONCE = 2
"""How many starts there are at once: each of a real CLI keeps a processor busy for seconds, and a gigabyte taken."""

_CALLS_SECONDS = 2.0
_HANGING = 8.0
"""How many times shorter than the deadline it is waited for what never ended when it was recorded."""


@dataclass(frozen=True)
class Played:
    """A scenario that was played: what came, the model calls of it, and what the record holds of it."""

    scenario: Scenario
    ran: Ran
    calls: tuple[Exchange, ...]
    recorded: Mapping[str, Any]
    words: Mapping[str, str]

    @property
    def outcome(self) -> dict[str, Any]:
        """What it came to, in the form of the record."""
        return outcome(self.ran, self.calls, {word: f"{{{name}}}" for name, word in self.words.items()})

    @property
    def answered(self) -> str:
        """The nonce that the model said."""
        return self.words["answered"]


class Under:
    """A start under way; `result` waits for it."""

    def __init__(self, finish: Callable[[], Ran]) -> None:
        self._finish = finish

    def result(self) -> Ran:
        """What came of it."""
        return self._finish()


class Kilo:
    """Starts the CLI that is judged. `desk` is None in a replay; `deadline` is how long a start may take."""

    def __init__(
        self,
        world: World,
        desk: KiloDesk | None,
        script: Script,
        journal: JournalReader,
        deadline: float,
    ) -> None:
        self._world, self._desk, self._script, self._journal = world, desk, script, journal
        self._deadline = deadline
        self._version: str | None = None

    @property
    def version(self) -> str:
        """The version that the CLI says it is; empty when it says none."""
        if self._version is None:
            seen = self._world.act("kilo", "version", None, lambda: {"version": self._live.version})
            self._version = str(seen["version"])
        return self._version

    def recorded(self, scenario: Scenario) -> Mapping[str, Any]:
        """What the record holds of a scenario for the version that this CLI is held against."""
        return outcome_of(self.version, scenario.name)

    def begin(self, label: str, start: Start, within: float | None = None) -> Under:
        """Start it in the background; it is ended after `within` seconds, those of the deadline when None."""
        going: Going | None = self._desk.cli.begin(start) if self._desk else None

        def perform() -> dict[str, Any]:
            if going is None:
                raise HarnessError("a replayed check reached for the live target")
            return going.result(self._deadline if within is None else within).to_json()

        return Under(lambda: Ran.from_json(self._world.act("kilo", label, start.to_json(), perform)))

    def play(self, *scenarios: Scenario) -> tuple[Played, ...]:
        """Play scenarios, several at once, each with nonces of its own.

        One that an earlier check of this process has played is not played again.
        """
        made = self._made(scenarios)
        fresh = [scenario for scenario in scenarios if scenario.name not in made]
        if fresh:
            made |= self._make(fresh)
        return tuple(self._played(scenario, made[scenario.name]) for scenario in scenarios)

    def _made(self, scenarios: Sequence[Scenario]) -> dict[str, Made]:
        """Those starts that were made for an earlier check."""
        names = [scenario.name for scenario in scenarios]
        known = self._desk.made if self._desk else {}

        def perform() -> dict[str, Any]:
            return {name: _to_json(known[name]) for name in names if name in known}

        seen = self._world.act("kilo", f"made before of {', '.join(names)}", names, perform)
        return {name: known[name] if name in known else self._from_json(value) for name, value in seen.items()}

    def _from_json(self, value: Mapping[str, Any]) -> Made:
        calls = tuple(apply_view(self._world.exchange(entry[0]), entry) for entry in value["calls"])
        return Made(value["words"], Ran.from_json(value["ran"]), calls)

    def _played(self, scenario: Scenario, made: Made) -> Played:
        recorded = self.recorded(scenario)
        return Played(filled(scenario, made.words), made.ran, made.calls, recorded, made.words)

    def _make(self, scenarios: Sequence[Scenario]) -> dict[str, Made]:
        plays = [self._filled(scenario) for scenario in scenarios]
        # All answers are set before anything starts: setting them forgets which steps were served.
        for scenario, words in plays:
            nonce = words["asked"] if scenario.named else None
            self._script.answer(f"answers to {scenario.name}", *scenario.steps, nonce=nonce, summary=scenario.summary)
        under: list[Under] = []
        rans: list[Ran] = []
        for scenario, _ in plays:
            if len(under) - len(rans) == _AT_ONCE:
                rans.append(under[len(rans)].result())
            under.append(self._begin(scenario))
        rans += [each.result() for each in under[len(rans) :]]
        label = "model calls of " + ", ".join(scenario.name for scenario in scenarios)
        calls = self._journal.wait(label, "model", _none_open, _CALLS_SECONDS)
        made = {
            scenario.name: Made(words, ran, _of(words["asked"], scenario, calls))
            for (scenario, words), ran in zip(plays, rans, strict=True)
        }
        if self._desk is not None:
            self._desk.made.update(made)
        return made

    @property
    def _live(self) -> KiloDesk:
        if self._desk is None:
            raise HarnessError("a replayed check reached for the live target")
        return self._desk

    def _filled(self, scenario: Scenario) -> tuple[Scenario, dict[str, str]]:
        words = {name: self._world.nonce(f"{scenario.name} {name}") for name in ("asked", "answered")}
        return filled(scenario, words), words

    def _begin(self, scenario: Scenario) -> Under:
        hangs = scenario.may_hang and self.recorded(scenario).get("status", 0) is None
        return self.begin(scenario.name, scenario.start, self._deadline / _HANGING if hangs else None)


def filled(scenario: Scenario, words: Mapping[str, str]) -> Scenario:
    """A scenario with nonces in their places."""

    def fill(text: str) -> str:
        for name, word in words.items():
            text = text.replace(f"{{{name}}}", word)
        return text

    start = replace(scenario.start, arguments=tuple(map(fill, scenario.start.arguments)))
    steps = tuple(replace(step, text=fill(step.text), message=fill(step.message)) for step in scenario.steps)
    return replace(scenario, start=start, steps=steps)


def _to_json(made: Made) -> dict[str, Any]:
    return {"words": made.words, "ran": made.ran.to_json(), "calls": [view(call) for call in made.calls]}


def _none_open(calls: Sequence[Exchange]) -> bool:
    return all(call.end != "open" for call in calls)


def _of(asked: str, scenario: Scenario, calls: Sequence[Exchange]) -> tuple[Exchange, ...]:
    """The calls that belong to a scenario: those whose messages hold its nonce, or all when it has none."""
    if not scenario.named:
        return tuple(calls)
    return tuple(call for call in calls if any(asked in text for _, text in messages_of(call.request.json())))
