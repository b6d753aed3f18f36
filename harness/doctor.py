"""Is the target sane, before any verdict: one nonce planted at each end must come out at the other."""

from __future__ import annotations

import json
import secrets

from harness import kilo_agent_target, kilo_target, model_server
from harness.discovery import discovered
from harness.errors import TargetNotReady
from harness.exchange import Exchange, Request
from harness.fakes.model.script import Answer, Rule, told
from harness.kilo_agents import LiveAgents
from harness.launch import Launch, launched
from harness.opencode import MODELS, PROVIDER, STAND_IN
from harness.parts import Say, part_behind
from harness.target import Agent, Facts, Target
from harness.telling import beginning
from harness.world import derive_nonce

_CHECK = "doctor"
_OTHER_OPENCODE = "try another version, or the stand-in: turnproof doctor stand-in"
_CONFIGURE = "let it use the addresses that turnproof up printed"


def examine(target: Target, say: Say, wanted: str = STAND_IN, attach: str | None = None) -> None:
    """Take the target through its whole life once, telling `say` each step; `wanted` opencode is put behind it.

    `attach` is the control address of what `turnproof up` holds behind it.

    Raises TurnproofError for what keeps it from being judged, among it that something of it is left at the end.
    """
    part = part_behind(target, wanted, say, attach)
    target = discovered(target)
    with launched(target, part, say) as launch:
        round_trip(launch, secrets.token_hex(16), say)
        process = launch.process
        if process is not None:
            stubborn = process.stop()
            kept = "" if not stubborn else f"; {len(stubborn)} of its processes had to be killed"
            say("it stops", f"on SIGTERM, with nothing left{kept}")


def round_trip(launch: Launch, seed: str, say: Say) -> None:
    """Send one prompt all the way round and look for it in every journal.

    Raises TargetNotReady naming the step that failed. For a target with nothing of ours behind it, it proves only
    that the key works, and says so.
    """
    facts, live = launch.target.facts, launch.live
    if isinstance(live, LiveAgents):
        say(*kilo_agent_target.round_trip(live, seed))
        return
    if launch.target.kind == model_server.KIND:
        say(*model_server.round_trip(launch.target, live, seed))
        return
    if launch.target.opencode is not None:
        _round_trip_of_opencode(launch, seed, say)
        return
    if launch.kilo is not None:
        say(*kilo_target.round_trip(launch.target, launch.kilo, live, seed))
        return
    key = next(key for key in facts.keys if key.state == "valid")
    agent = _agent_with_model(facts, key.agents)
    asked, answered = (derive_nonce(seed, _CHECK, label) for label in ("asked", "answered"))
    if not live.observes("model"):
        _key_works(launch, key.name)
        say("a key works", f"{key.name}; nothing of ours is behind this target, so no round trip can be proved")
        return
    live.use_model_rules((Rule(asked, (Answer(text=answered),)),))
    body = {"model": agent.id, "messages": [{"role": "user", "content": asked}]}
    request = Request("POST", "/v1/chat/completions", _JSON, json.dumps(body).encode())
    reply = live.send(request, _CHECK, key.name)
    models, prompts = live.seen("model"), live.seen("opencode")
    live.close_window()
    if reply.status in (401, 403):
        raise TargetNotReady(
            "a key works", f"key {key.name} was refused: {_shown(reply)}", "check [[keys]]", launch.log()
        )
    say("a key works", key.name)
    if reply.status != 200 or answered not in reply.text:
        raise _lost(launch, reply, prompts, models, asked)
    say("a nonce made it all the way round", f"client, target, opencode, model server, in {reply.duration or 0:.1f} s")
    passed = any(asked in _sent(prompt) for prompt in prompts) or not live.observes("opencode")
    if not told(models, asked) or not passed:
        message = "the target answered, but the prompt passed none of our journals"
        hint = "let it use {opencode_url}" if launch.target.url is None else _CONFIGURE
        raise TargetNotReady("the journals saw it", message, hint, launch.log())
    say("the journals saw it", f"{len(prompts)} requests to opencode, {len(models)} to the model server")


def _round_trip_of_opencode(launch: Launch, seed: str, say: Say) -> None:
    """One prompt to an opencode server that is judged itself, looked for at its model server."""
    asked, answered = (derive_nonce(seed, _CHECK, label) for label in ("asked", "answered"))
    live = launch.live
    live.use_model_rules((Rule(asked, (Answer(text=answered),)),))
    created = _call_opencode(launch, "/session", {"title": _CHECK})
    session = created.json()
    if created.status != 200 or not isinstance(session, dict):
        message = f"POST /session answered {_shown(created)}"
        raise TargetNotReady("a nonce makes it all the way round", message, _OTHER_OPENCODE)
    body = {
        "model": {"providerID": PROVIDER, "modelID": MODELS[0]},
        "parts": [{"type": "text", "text": asked}],
    }
    reply = _call_opencode(launch, f"/session/{session.get('id')}/message", body)
    calls = live.seen("model")
    live.close_window()
    if reply.status != 200 or answered not in reply.text or not told(calls, asked):
        message = f"{len(calls)} calls reached the model server; opencode answered {_shown(reply)}"
        raise TargetNotReady("a nonce makes it all the way round", message, _OTHER_OPENCODE)
    say("a nonce made it all the way round", f"client, opencode, model server, in {reply.duration or 0:.1f} s")


def _call_opencode(launch: Launch, path: str, body: object) -> Exchange:
    (key,) = launch.live.keys
    return launch.live.send(Request("POST", path, _JSON, json.dumps(body).encode()), _CHECK, key, "Basic")


_JSON = (("content-type", "application/json"),)


def _agent_with_model(facts: Facts, ids: tuple[str, ...]) -> Agent:
    """The first agent of a key that has a model, or whose model the target does not tell."""
    for agent in facts.agents:
        if agent.id in ids and not agent.no_model:
            return agent
    raise TargetNotReady("a key works", "no valid key has an agent with a model", "add one to [[keys]] agents")


def _key_works(launch: Launch, key: str) -> None:
    reply = launch.live.send(Request("GET", "/v1/models"), _CHECK, key)
    launch.live.close_window()
    if reply.status != 200 or not isinstance(reply.json(), dict):
        raise TargetNotReady("a key works", f"GET /v1/models answered {_shown(reply)}", "check [[keys]]", launch.log())


def _lost(
    launch: Launch, reply: Exchange, prompts: tuple[Exchange, ...], models: tuple[Exchange, ...], asked: str
) -> TargetNotReady:
    """The failure that tells how far the nonce came."""
    if not launch.live.observes("opencode") and not told(models, asked):
        where = "it never reached the model server"
    elif not launch.live.observes("opencode"):
        where = "it reached the model server, and its answer did not come back"
    elif not prompts:
        where = "it never reached opencode"
    elif not any(asked in _sent(prompt) for prompt in prompts):
        where = "the target spoke to opencode but did not pass the prompt on"
    elif not told(models, asked):
        where = "opencode was prompted but did not call the model server"
    else:
        where = "it reached the model server, and its answer did not come back"
    message = f"{where}; the target answered {_shown(reply)}"
    hint = "see the target's output" if prompts or launch.target.url is None else _CONFIGURE
    return TargetNotReady("a nonce makes it all the way round", message, hint, launch.log())


def _sent(exchange: Exchange) -> str:
    return exchange.request.body.decode("utf-8", "replace")


def _shown(reply: Exchange) -> str:
    return f"{reply.status}: {beginning(reply.text)}" if reply.status else f"nothing ({reply.error})"
