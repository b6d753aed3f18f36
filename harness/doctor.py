"""Is the target sane, before any verdict: one nonce planted at each end must come out at the other."""

from __future__ import annotations

import json
import os
import secrets

from harness import agent_endpoint, kilo_agent_target, kilo_target, model_server
from harness.discovery import discovered
from harness.errors import TargetNotReady
from harness.exchange import Exchange, Request
from harness.fakes.model.script import Answer, Rule, told
from harness.kilo_agents import LiveAgents
from harness.launch import Launch, launched
from harness.opencode import MODELS, PROVIDER, STAND_IN
from harness.parts import Say, part_behind
from harness.reply_words import came, if_slow
from harness.supervised import Leftover
from harness.target import Target
from harness.variables import expect_set
from harness.world import derive_nonce

_CHECK = "doctor"
_OTHER_OPENCODE = "try another version, or the stand-in: turnproof doctor stand-in"


def examine(target: Target, say: Say, wanted: str = STAND_IN, attach: str | None = None) -> None:
    """Take the target through its whole life once, telling `say` each step; `wanted` opencode is put behind it.

    `attach` is the control address of what `turnproof up` holds behind it.

    Raises TurnproofError for what keeps it from being judged, among it that something of it is left at the end.
    """
    expect_set(target, os.environ)
    part = part_behind(target, wanted, say, attach)
    target = discovered(target)
    with launched(target, part, say) as launch:
        round_trip(launch, secrets.token_hex(16), say)
        process = launch.process
        if process is not None:
            say("it stops", _told_stop(process.stop()))


def _told_stop(killed: tuple[Leftover, ...]) -> str:
    if not killed:
        return "on SIGTERM, with nothing left"
    many = "1 of its processes" if len(killed) == 1 else f"{len(killed)} of its processes"
    return f"with nothing left, but not on SIGTERM alone: {many} had to be killed"


def round_trip(launch: Launch, seed: str, say: Say) -> None:
    """Send one prompt all the way round and look for it in every journal, as the target's kind has it.

    Raises TargetNotReady naming the step that failed. For a target with nothing of ours behind it, it proves only
    that a turn is answered, and says so.
    """
    live = launch.live
    if isinstance(live, LiveAgents):
        say(*kilo_agent_target.round_trip(live, seed))
    elif launch.target.kind == model_server.KIND:
        say(*model_server.round_trip(launch.target, live, seed))
    elif launch.target.opencode is not None:
        _round_trip_of_opencode(launch, seed, say)
    elif launch.kilo is not None:
        say(*kilo_target.round_trip(launch.target, launch.kilo, live, seed))
    else:
        agent_endpoint.round_trip(launch, seed, say)


def _round_trip_of_opencode(launch: Launch, seed: str, say: Say) -> None:
    """One prompt to an opencode server that is judged itself, looked for at its model server."""
    asked, answered = (derive_nonce(seed, _CHECK, label) for label in ("asked", "answered"))
    live = launch.live
    live.use_model_rules((Rule(asked, (Answer(text=answered),)),))
    created = _call_opencode(launch, "/session", {"title": _CHECK})
    session = created.json()
    if created.status != 200 or not isinstance(session, dict):
        message = f"POST /session answered {came(created)}"
        raise TargetNotReady("a nonce makes it all the way round", message, _OTHER_OPENCODE + if_slow(created))
    body = {
        "model": {"providerID": PROVIDER, "modelID": MODELS[0]},
        "parts": [{"type": "text", "text": asked}],
    }
    reply = _call_opencode(launch, f"/session/{session.get('id')}/message", body)
    calls = live.seen("model")
    live.close_window()
    if reply.status != 200 or answered not in reply.text or not told(calls, asked):
        message = f"{len(calls)} calls reached the model server; opencode answered {came(reply)}"
        raise TargetNotReady("a nonce makes it all the way round", message, _OTHER_OPENCODE + if_slow(reply))
    say("a nonce made it all the way round", f"client, opencode, model server, in {reply.duration or 0:.1f} s")


def _call_opencode(launch: Launch, path: str, body: object) -> Exchange:
    (key,) = launch.live.keys
    return launch.live.send(Request("POST", path, _JSON, json.dumps(body).encode()), _CHECK, key, "Basic")


_JSON = (("content-type", "application/json"),)
