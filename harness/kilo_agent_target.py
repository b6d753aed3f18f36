"""The kind of target `kilo-agent`: its built-in targets, what is behind it, its launch, and its round trip."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from harness.errors import TargetNotReady
from harness.exchange import Request
from harness.fakes.model.script import Answer, Rule, told
from harness.fetch import fetch
from harness.kilo_agents import LiveAgents, Wanted
from harness.kilo_behind import MODELS, STAND_IN, KiloPart
from harness.reply_words import came, if_slow
from harness.target import Target
from harness.target_file import load
from harness.world import derive_nonce

KIND = "kilo-agent"
REFERENCE, OVER, MUTANT = "reference-kilo", "reference-kilo@", "kilo-mutant:"

_MODULE, _MUTANTS = "harness.reference.kilo", "harness.mutants.kilo_agent"
_FILE = Path(__file__).parent / "fixtures" / "targets" / "reference-kilo.toml"
_SECONDS = 600.0
_CHECK = "doctor"


def built_in(text: str) -> Target | None:
    """The target that `text` names; None when it names no agent of ours. Raises UsageError for an unknown mutant."""
    if text == REFERENCE:
        return load(_FILE)
    if text.startswith(OVER):
        version = text.removeprefix(OVER)
        return replace(load(_FILE), name=f"{REFERENCE} over kilo {version}", kilo_behind=version, deadline=_SECONDS)
    return _mutant(text.removeprefix(MUTANT)) if text.startswith(MUTANT) else None


def _mutant(text: str) -> Target:
    """The reference, started with another module."""
    from harness.mutants.kilo_agent import find  # and with it the whole reference, which only a mutant needs

    name = find(text).name
    reference = load(_FILE)
    assert reference.start is not None
    other = (_MUTANTS, name)
    command = (piece for part in reference.start.command for piece in (other if part == _MODULE else (part,)))
    return replace(reference, name=f"mutant {name}", start=replace(reference.start, command=tuple(command)))


def part_of(target: Target, say: Callable[[str, str], None]) -> KiloPart:
    """The CLI behind an agent: the stand-in, one of a version, fetched when the cache lacks it, or the user's own."""
    wanted = target.kilo_behind
    if isinstance(wanted, Path):
        return KiloPart(None, wanted)
    if wanted == STAND_IN:
        return KiloPart()
    return KiloPart(wanted, fetch(f"kilo@{wanted}", say=lambda text: say("kilo is fetched", text)))


def round_trip(live: LiveAgents, seed: str) -> tuple[str, str]:
    """One prompt, looked for at the model server; what was shown, and its detail.

    Raises TargetNotReady when it did not get there, or the answer did not come back.
    """
    asked, answered = (derive_nonce(seed, _CHECK, label) for label in ("asked", "answered"))
    wanted = Wanted({"model": MODELS[0], "model_server": "{model_url}"})
    live.start(wanted)
    live.use_model_rules((Rule(asked, (Answer(text=answered),)),))
    body = json.dumps({"input": asked}).encode()
    request = Request("POST", "/v1/responses", (("content-type", "application/json"),), body)
    reply = live.find(live.ask(wanted, request, _CHECK).result())
    calls = live.seen("model")
    log = live.log(wanted)
    live.close_window()
    if reply.status != 200 or answered not in reply.text or not told(calls, asked):
        message = f"{len(calls)} calls reached the model server; the agent answered {came(reply)}"
        raise TargetNotReady("a nonce makes it all the way round", message, "see its output" + if_slow(reply), log)
    return "a nonce made it all the way round", f"client, agent, kilo, model server, in {reply.duration or 0:.1f} s"
