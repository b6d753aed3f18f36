"""Broken endpoints, each a small change to the reference's parts, and started with the reference's arguments.

`python -m harness.mutants.endpoint NAME --port N --config FILE`
"""

from __future__ import annotations

import secrets
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from harness.mutants.endpoint_access import ACCESS
from harness.mutants.endpoint_doors import DOORS
from harness.mutants.endpoint_extremes import EXTREMES
from harness.mutants.endpoint_faults import FAULTS
from harness.mutants.endpoint_grudges import GRUDGES
from harness.mutants.endpoint_keys import KEYS
from harness.mutants.endpoint_kinds import KINDS
from harness.mutants.endpoint_launches import LAUNCHES
from harness.mutants.endpoint_refusals import REFUSALS
from harness.mutants.endpoint_replies import REPLIES
from harness.mutants.endpoint_requests import REQUESTS
from harness.mutants.endpoint_streamed import STREAMED
from harness.mutants.endpoint_streams import STREAMS
from harness.mutants.endpoint_texts import TEXTS
from harness.mutants.endpoint_turns import TURNS
from harness.mutants.mutant import Mutant, changing, named, served
from harness.reference.endpoint.access import accepts, no_such_model, refuse_key, unauthorized
from harness.reference.endpoint.agents import Agents, Model, model_of
from harness.reference.endpoint.chat_request import Message, last_user, read_content
from harness.reference.endpoint.completion import Frame, chunk, new_frame
from harness.reference.endpoint.driver import Drive, Say, Why, abort_turn
from harness.reference.endpoint.envelope import Refusal
from harness.reference.endpoint.keys import Key
from harness.reference.endpoint.opencode import Opencode
from harness.reference.endpoint.parts import Parts
from harness.reference.endpoint.serve import serve
from harness.reference.endpoint.stream import TERMINATOR
from harness.reference.endpoint.turn import Failure, Reply, Step, Turn, Usage


def _accept_revoked(key: Key, now: float) -> bool:
    return accepts(replace(key, revoked=False), now)


def _accept_expired(key: Key, now: float) -> bool:
    return accepts(replace(key, expires_at=None), now)


def _tell_expired(key: Key | None) -> Refusal:
    return refuse_key(key) if key is None else unauthorized("The API key has expired.")


def _any_agent(_key: Key, agents: Agents, agent: str) -> bool:
    return agent in agents


async def _drive_and_refuse(agent: str, drive: Callable[[], Awaitable[object]]) -> Refusal:
    with suppress(KeyError, Refusal):
        await drive()
    return no_such_model(agent)


def _role_always(frame: Frame, delta: dict[str, Any], finish: str | None) -> dict[str, Any]:
    return chunk(frame, {"role": "assistant", **delta}, finish)


def _own_id(frame: Frame, delta: dict[str, Any], finish: str | None) -> dict[str, Any]:
    return chunk(replace(frame, id="chatcmpl-" + secrets.token_hex(12)), delta, finish)


def _no_object(frame: Frame, delta: dict[str, Any], finish: str | None) -> dict[str, Any]:
    return {name: value for name, value in chunk(frame, delta, finish).items() if name != "object"}


@dataclass(frozen=True)
class _ModelFrame(Frame):
    llm: str = ""


def _frame_with_llm(asked: str, model: Model) -> Frame:
    return _ModelFrame(**vars(new_frame(asked, model)), llm=f"{model.provider}/{model.id}")


def _names_llm(frame: Frame, delta: dict[str, Any], finish: str | None) -> dict[str, Any]:
    assert isinstance(frame, _ModelFrame)
    return chunk(replace(frame, model=frame.llm), delta, finish)


def _last_full_user(messages: Sequence[Message]) -> Message:
    full = [message for message in messages if message.role != "user" or message.text.strip()]
    if not any(message.role == "user" for message in full):
        raise Refusal(400, "no user message found in request", param="messages")
    return last_user(full)


def _empty_is_upstream_fault(message: Message) -> None:
    if not message.text.strip():
        raise Refusal(502, "no user message found in request", type="server_error", code="agent_error")


def _first_part_needed(content: object, where: str) -> str:
    if isinstance(content, list):
        assert content[0] is not None
    return read_content(content, where)


def _first_model(agents: Agents, agent: str) -> Model:
    model_of(agents, agent)
    return model_of(agents, next(name for name, model in agents.items() if model is not None))


def _cut_at_last_slash(agents: Agents, agent: str) -> Model:
    model = model_of(agents, agent)
    return replace(model, id=model.id.rpartition("/")[2])


def _provider_in_id(agents: Agents, agent: str) -> Model:
    model = model_of(agents, agent)
    return replace(model, id=f"{model.provider}/{model.id}") if "/" in model.id else model


class _WaitsForIdle(Turn):
    def _on_error(self, properties: dict[str, Any]) -> list[Step]:
        return []


class _OverflowIsEmptyReply(Turn):
    def _on_error(self, properties: dict[str, Any]) -> list[Step]:
        if properties.get("error", {}).get("name") == "ContextOverflowError":
            return [Reply("", "stop", Usage(0, 0))]
        return super()._on_error(properties)


class _HearsEverySession(Turn):
    def feed(self, event: dict[str, Any]) -> list[Step]:
        session = event.get("properties", {}).get("sessionID")
        if event.get("type") == "session.error" and session != self.session:
            return [Failure("an error of another session")]
        return super().feed(event)


def _give_up_unless(silent: Why) -> Callable[[Opencode, Turn, Why], Awaitable[None]]:
    async def give_up(opencode: Opencode, turn: Turn, why: Why) -> None:
        if why != silent:
            await abort_turn(opencode, turn, why)

    return give_up


async def _answer_itself(_model: Model, _drive: Drive, say: Say | None) -> Reply:
    if say is not None:
        await say("ok")
    return Reply("ok", "stop", Usage(1, 1))


BASIC: tuple[Mutant[Parts], ...] = (
    changing("revoked_key_works", "serves a revoked key", "AE-AUTH-1", "AE-KEYS-4", accepts=_accept_revoked),
    changing("expired_key_works", "serves an expired key", "AE-AUTH-1", "AE-KEYS-4", accepts=_accept_expired),
    changing("expired_key_told", "tells known keys from unknown ones", "AE-AUTH-1", refuse_key=_tell_expired),
    changing(
        "consent_ignored",
        "serves every agent that exists",
        "AE-SCOPE-1",
        "AE-ENV-1",
        "AE-ENV-2",
        "AE-MODELS-2",
        "AE-SCOPE-2",
        "AE-SCOPE-5",
        in_scope=_any_agent,
    ),
    changing("refused_turn_runs", "runs the turn, then refuses it", "AE-SCOPE-1", refuse_agent=_drive_and_refuse),
    changing("stream_truthy", "takes any truthy `stream` for true", "AE-STREAM-1", "AE-REQ-8", read_stream=bool),
    changing("no_done", "ends a stream without [DONE]", "AE-STREAM-3", "AE-STREAM-6", terminator=b""),
    changing("role_in_every_delta", "sends the role with every delta", "AE-STREAM-3", chunk=_role_always),
    changing("id_per_chunk", "gives each chunk an id of its own", "AE-STREAM-3", chunk=_own_id),
    changing("chunk_without_object", "leaves `object` out of chunks", "AE-STREAM-3", "AE-STREAM-6", chunk=_no_object),
    changing("chunk_names_llm", "names the LLM in chunks", "AE-STREAM-3", new_frame=_frame_with_llm, chunk=_names_llm),
    changing(
        "event_after_done",
        "sends an event after [DONE]",
        "AE-STREAM-3",
        "AE-STREAM-10",
        "AE-STREAM-6",
        terminator=TERMINATOR + b"data: {}\n\n",
    ),
    changing("empty_is_none", "takes an empty message for no message", "AE-EMPTY-1", last_user=_last_full_user),
    changing(
        "empty_is_502",
        "answers an empty message with 502",
        "AE-EMPTY-1",
        "AE-EMPTY-3",
        check_empty=_empty_is_upstream_fault,
    ),
    changing(
        "empty_list_crashes", "crashes on content []", "AE-EMPTY-1", "AE-EMPTY-3", read_content=_first_part_needed
    ),
    changing("first_model_always", "prompts the first agent's model", "AE-TURN-2", "AE-TURN-7", model_of=_first_model),
    changing(
        "slashed_model_cut",
        "cuts a model id at its last slash",
        "AE-TURN-2",
        "AE-KEYS-5",
        "AE-SCOPE-4",
        "AE-SCOPE-5",
        "AE-TURN-7",
        "AE-TURN-8",
        "AE-TURN-9",
        model_of=_cut_at_last_slash,
    ),
    changing(
        "provider_in_model",
        "leaves the provider in a slashed model id",
        "AE-TURN-2",
        "AE-KEYS-5",
        "AE-SCOPE-4",
        "AE-SCOPE-5",
        "AE-TURN-7",
        "AE-TURN-8",
        "AE-TURN-9",
        model_of=_provider_in_id,
    ),
    changing("error_awaits_idle", "ignores session.error until idle", "AE-FAULT-3", make_turn=_WaitsForIdle),
    changing(
        "overflow_is_success",
        "answers an overflow with 200",
        "AE-FAULT-3",
        "AE-REPLY-11",
        make_turn=_OverflowIsEmptyReply,
    ),
    changing("foreign_error_ends", "fails on other sessions' errors", "AE-FAULT-3", make_turn=_HearsEverySession),
    changing(
        "deadline_without_abort",
        "lets a late turn go on",
        "AE-FAULT-6",
        "AE-FAULT-11",
        give_up=_give_up_unless("deadline"),
    ),
    changing("gone_without_abort", "lets a left turn go on", "AE-FAULT-6", give_up=_give_up_unless("gone")),
)

MUTANTS: tuple[Mutant[Parts], ...] = (
    *BASIC,
    *REPLIES,
    *TEXTS,
    *FAULTS,
    *GRUDGES,
    *STREAMS,
    *STREAMED,
    *KINDS,
    *TURNS,
    *KEYS,
    *ACCESS,
    *DOORS,
    *REQUESTS,
    *EXTREMES,
    *REFUSALS,
    *LAUNCHES,
)


STUBS: tuple[Mutant[Parts], ...] = (
    changing(
        "answers_itself",
        "answers every prompt itself",
        *("LE-TURN-1", "LE-STREAM-1", "LE-TOOL-1", "LE-REFUSAL-1", "LE-FAULT-1"),
        run_turn=_answer_itself,
    ),
)
"""What never asks its opencode: it breaks most of the suite `agent_endpoint`, so live round trips are its judge."""


def find(name: str) -> Mutant[Parts]:
    """The mutant, or stub, of that name; raises UsageError."""
    return named(name, (*MUTANTS, *STUBS))


def main(arguments: Sequence[str]) -> int:
    """Serve the mutant that the first argument names; the exit code."""
    return served(arguments, (*MUTANTS, *STUBS), serve, Parts(), "harness.mutants.endpoint")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
