"""The kind of target `model-server`: its built-in targets, its launch where it is our own, and its round trip."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from harness.behind import ModelAlone, ModelBehind
from harness.chat import ask
from harness.errors import TargetNotReady
from harness.fakes.model.face import Face, over_without_output
from harness.fakes.model.faces import WINDOW, face_named
from harness.fakes.model.script import Answer, Rule
from harness.live import LiveTarget
from harness.mutants.model import find as flaw_named
from harness.redaction import Redactor
from harness.reply_words import came, if_slow
from harness.stand_ins import ModelStandIn
from harness.target import Agent, Policies, Ready, Target, mentions
from harness.target_keys import FromEnvironment, Key
from harness.world import derive_nonce

KIND = "model-server"
STAND_IN, FLAW = "model-stand-in", "model-flaw:"
MODELS = ("vendor/large-1", "small-1")
"""What the stand-in serves: its key `main` may use both models, its key `narrow` the second alone."""

_UPSTREAM = "openai"
_CHECK = "doctor"


def built_in(text: str) -> Target | None:
    """The stand-in `model-stand-in[:FACE]` or a flaw of it, `model-flaw:NAME`; None when `text` names neither.

    Raises UsageError for an unknown face or flaw.
    """
    if text.startswith(FLAW):
        flaw = flaw_named(text.removeprefix(FLAW))
        return _stand_in(text, ModelStandIn(flaw.face, flaw.name))
    if text == STAND_IN or text.startswith(f"{STAND_IN}:"):
        return _stand_in(text, ModelStandIn(text.removeprefix(STAND_IN).removeprefix(":") or _UPSTREAM))
    return None


def _stand_in(text: str, model: ModelStandIn) -> Target:
    face = face_named(model.face)
    capabilities = _capabilities(face)
    ids = [("main", MODELS), ("narrow", MODELS[1:])] if "virtual_keys" in capabilities else [("main", MODELS)]
    return Target(
        kind=KIND,
        name=str(model),
        source=text,
        folder=Path.cwd(),
        url=None,
        start=None,
        ready=Ready(),
        agents=tuple(Agent(id_) for id_ in MODELS),
        keys=tuple(Key(name, "valid", models, FromEnvironment("")) for name, models in ids),
        capabilities=capabilities,
        policies=Policies(over_window=_policy(face)),
        deadline=5.0,
        model=model,
        window=face.window,
        reasoning_field="both" if len(face.reasoning_fields) > 1 else next(iter(face.reasoning_fields), None),
    )


def _capabilities(face: Face) -> tuple[str, ...]:
    offered = {
        "reasoning": bool(face.reasoning_fields),
        "capture": face.rollouts,
        "token_ids": face.token_ids,
        "virtual_keys": face.knows_keys,
        "models": face.lists_models,
    }
    return tuple(name for name, is_offered in offered.items() if is_offered)


def _policy(face: Face) -> str | None:
    if face.window is None:
        return None
    if face.buffers:
        return "empty_length"
    return "clamp" if face.over is over_without_output else "error"


def part_of(target: Target) -> ModelAlone | None:
    """The model server to judge, or to put behind a target; None for a target that is not told where to find one.

    Behind a target it keeps to the window that the target declares: what a proxy says of it is its upstream's word.
    """
    if target.model is not None:
        return ModelAlone(frozenset(MODELS), face=target.model.face, window=WINDOW, flaw=target.model.flaw)
    if not mentions(target, "model_url"):
        return None
    models = frozenset(agent.model or agent.id for agent in target.agents)
    return ModelAlone(models, face=target.upstream or _UPSTREAM, window=target.window)


@contextlib.contextmanager
def itself(target: Target, running: ModelBehind, redactor: Redactor) -> Iterator[tuple[LiveTarget, Path | None]]:
    """The stand-in as the target, with keys made for this run, and where it keeps captured calls."""
    keys = {key.name: f"sk-{secrets.token_urlsafe(16)}" for key in target.keys}
    for name, secret in keys.items():
        redactor.add(f"key.{name}", secret)
    face = running.model.face
    if face.knows_keys:
        running.model.face = replace(face, keys={keys[key.name]: frozenset(key.agents) for key in target.keys})
    url = running.model.url
    with LiveTarget(running.engine, running.journal, url, keys, target.deadline, running) as live:
        captures = running.model.captures
        yield live, captures.folder if captures is not None and face.rollouts else None


def round_trip(target: Target, live: LiveTarget, seed: str) -> tuple[str, str]:
    """One question, looked for at the model server of ours where one is behind; what was shown, and its detail.

    Raises TargetNotReady when the answer is none.
    """
    key = next(key for key in target.keys if key.state == "valid")
    asked, answered = (derive_nonce(seed, _CHECK, label) for label in ("asked", "answered"))
    scripted = live.observes("model")
    if scripted:
        live.use_model_rules((Rule(asked, (Answer(text=answered),)),))
    reply = live.send(ask(key.agents[0], f"Say {asked} and nothing more.", max_tokens=64), _CHECK, key.name)
    calls = live.seen("model")
    live.close_window()
    if reply.status != 200 or (scripted and answered not in reply.text):
        hint = "check [[keys]] and [[agents]]" + if_slow(reply)
        raise TargetNotReady("it answers a question", f"it answered {came(reply)}", hint)
    if not scripted:
        return "it answers a question", f"{key.agents[0]}; nothing of ours is behind it"
    if not any(asked.encode() in call.request.body for call in calls):
        raise TargetNotReady("the journal saw it", "the answer came from elsewhere", "let it use {model_url}")
    return "a nonce made it all the way round", f"through {target.name}, in {reply.duration or 0:.1f} s"
