"""The kind of target `agent-endpoint`: do its keys work, and does a turn go round."""

from __future__ import annotations

from collections.abc import Sequence

from harness.chat import ask, content_of
from harness.errors import TargetNotReady
from harness.exchange import Exchange, Request
from harness.fakes.model.script import Answer, Rule, told
from harness.launch import Launch
from harness.parts import Say, models_of
from harness.readiness import PORTLESS
from harness.reply_words import came, if_slow, statuses
from harness.target import Agent, Facts, Target, mentions, told_port
from harness.target_keys import FromCommand, FromEnvironment, Key, KeyFacts
from harness.world import derive_nonce

_CHECK = "doctor"
_LIST = Request("GET", "/v1/models")
_KEYS, _TURN, _ROUND, _JOURNALS = (
    "its keys work",
    "a turn is answered",
    "a nonce makes it all the way round",
    "the journals saw it",
)
_CONFIGURE = "let it use the addresses that turnproof up printed"
_LOG = "see the target's output"


def round_trip(launch: Launch, seed: str, say: Say) -> None:
    """Try every valid key, and send one prompt all the way round, which is looked for in every journal.

    With nothing of ours behind the target, a turn that is answered is all that can be had, and is told as such.
    Raises TargetNotReady naming the step that failed.
    """
    key, agent = _asking(launch.target.facts)
    say(_KEYS, _keys_work(launch))
    if not launch.live.observes("model"):
        say(_TURN, _plain_turn(launch, key.name, agent))
        return
    asked, answered = (derive_nonce(seed, _CHECK, label) for label in ("asked", "answered"))
    launch.live.use_model_rules((Rule(asked, (Answer(text=answered),)),))
    reply = launch.live.send(ask(agent.id, asked), _CHECK, key.name)
    models, prompts = launch.live.seen("model"), launch.live.seen("opencode")
    launch.live.close_window()
    if reply.status in (401, 403):
        raise _refused(launch, [(key.name, reply)])
    if reply.status != 200 or answered not in reply.text:
        raise _lost(launch, reply, prompts, models, asked)
    say("a nonce made it all the way round", f"client, target, opencode, model server, in {reply.duration or 0:.1f} s")
    passed = any(asked in _sent(prompt) for prompt in prompts) or not launch.live.observes("opencode")
    if not told(models, asked) or not passed:
        message = "the target answered, but the prompt passed none of our journals"
        hint = "let it use {opencode_url}" if launch.target.url is None else _CONFIGURE
        raise TargetNotReady(_JOURNALS, message, hint, launch.log())
    say(_JOURNALS, f"{len(prompts)} requests to opencode, {len(models)} to the model server")


def _asking(facts: Facts) -> tuple[KeyFacts, Agent]:
    """The first valid key with an agent that has a model, or whose model the target does not tell, and that agent."""
    for key in facts.keys:
        for agent in facts.agents:
            if key.state == "valid" and agent.id in key.agents and not agent.no_model:
                return key, agent
    raise TargetNotReady(_KEYS, "no valid key has an agent with a model", "add one to [[keys]] agents")


def _keys_work(launch: Launch) -> str:
    """The valid keys, none of which is refused; a key with a rate cap is left alone, for it may be used up by that."""
    valid = [key for key in launch.target.facts.keys if key.state == "valid"]
    replies = [(key.name, launch.live.send(_LIST, _CHECK, key.name)) for key in valid if key.rate_cap is None]
    launch.live.close_window()
    refused = [(name, reply) for name, reply in replies if reply.status in (401, 403)]
    if refused:
        raise _refused(launch, refused)
    for name, reply in replies:
        _expect_endpoint(launch, name, reply)
    tried = [f"{name} ({reply.error})" if reply.end == "gone" else name for name, reply in replies]
    return ", ".join([*tried, *(f"{key.name} (not tried: it has a rate cap)" for key in valid if key.rate_cap)])


def _expect_endpoint(launch: Launch, key: str, reply: Exchange) -> None:
    """There is an endpoint; what it lists is judged by checks where a nonce that goes round shows so much."""
    listed = reply.status == 200 and isinstance(reply.json(), dict)
    if listed or (launch.live.observes("model") and reply.end != "failed"):
        return
    message = f"GET {launch.live.url}{_LIST.path} with the key {key} was answered {came(reply)}"
    hint = "is this the base URL of an OpenAI-compatible endpoint? Check url, and what listens there"
    if launch.target.start is not None:
        hint = _LOG if told_port(launch.target) else PORTLESS
    raise TargetNotReady(_KEYS, message, hint + if_slow(reply), launch.log())


def _plain_turn(launch: Launch, key: str, agent: Agent) -> str:
    reply = launch.live.send(ask(agent.id, "Say hello."), _CHECK, key)
    launch.live.close_window()
    if reply.status != 200 or content_of(reply) is None:
        message = f"a prompt to the agent {agent.id} with the key {key} was answered {came(reply)}"
        hint = _LOG if launch.process is not None else "see what the endpoint itself writes of it"
        raise TargetNotReady(_TURN, message, hint + if_slow(reply), launch.log())
    took = f"{agent.id}, with the key {key}, in {reply.duration or 0:.1f} s"
    return f"{took}; but no nonce went round: {_unwatched(launch.target)}"


def _unwatched(target: Target) -> str:
    """Why nothing behind the target can be watched."""
    if target.url is not None:
        return "nothing of ours is behind this target, which is given by its URL; see turnproof up --stack"
    if mentions(target, "shims"):
        return "[start] holds {shims} without {model_url}, so nothing behind this target can be watched"
    names = "{opencode_url}, {model_url} and {shims}"
    return f"[start] holds none of {names}, so nothing behind this target can be watched"


def _refused(launch: Launch, refused: Sequence[tuple[str, Exchange]]) -> TargetNotReady:
    answers = (
        f"key {name}: {reply.request.method} {reply.request.path} answered {came(reply)}" for name, reply in refused
    )
    names = {name for name, _ in refused}
    known = "; ".join(_origin(key) for key in launch.target.keys if key.name in names)
    return TargetNotReady(
        _KEYS, f"the target refused {'; '.join(answers)}", f"check that it knows {known}", launch.log()
    )


def _origin(key: Key) -> str:
    """A key, and where it comes from."""
    if isinstance(key.source, FromEnvironment):
        return f"{key.name}, which is the value of {key.source.variable}"
    if isinstance(key.source, FromCommand):
        return f"{key.name}, which the command of that key prints"
    return f"{key.name}, which mint of that key was answered"


def _lost(
    launch: Launch, reply: Exchange, prompts: tuple[Exchange, ...], models: tuple[Exchange, ...], asked: str
) -> TargetNotReady:
    """The failure that tells how far the nonce came."""
    reached = [call for call in models if told((call,), asked)]
    passed = [prompt for prompt in prompts if asked in _sent(prompt)]
    otherwise = _LOG if prompts or launch.target.url is None else _CONFIGURE
    if reached:
        where = f"it reached the model server, and its answer did not come back ({statuses(reached)})"
    elif not launch.live.observes("opencode"):
        where = "it never reached the model server"
    elif not prompts:
        where = "it never reached opencode"
    elif not passed:
        where = f"the target spoke to opencode but did not pass the prompt on; opencode answered {statuses(prompts)}"
        if any(prompt.status == 401 for prompt in prompts):
            otherwise = "let it show {opencode_password} to opencode, by HTTP Basic with the user opencode"
    else:
        where = f"opencode was prompted but did not call the model server{_misnamed(launch.target, passed)}"
    message = f"{where}; the target answered {came(reply)}"
    return TargetNotReady(_ROUND, message, otherwise + if_slow(reply), launch.log())


def _misnamed(target: Target, prompts: Sequence[Exchange]) -> str:
    """Which models were prompted that are not served; empty where all are, and where it is not known."""
    served = [f"{provider}/{model}" for provider, model in models_of(target)]
    named = [name for prompt in prompts if (name := _model_of(prompt)) is not None and name not in served]
    if not named or not served:
        return ""
    return f": it was prompted for {', '.join(dict.fromkeys(named))}, and [[agents]] let it serve {', '.join(served)}"


def _model_of(prompt: Exchange) -> str | None:
    body = prompt.request.json()
    model = body.get("model") if isinstance(body, dict) else None
    return f"{model.get('providerID')}/{model.get('modelID')}" if isinstance(model, dict) else None


def _sent(exchange: Exchange) -> str:
    return exchange.request.body.decode("utf-8", "replace")
