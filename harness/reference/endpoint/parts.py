"""The endpoint's small decisions, each in a place of its own, so that one can be exchanged for another.

Every field defaults to what keeps the contract; a broken endpoint is `dataclasses.replace` of one of them.
"""

from __future__ import annotations

from asyncio import Timeout
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from starlette.exceptions import HTTPException
from starlette.responses import Response

from harness.reference.endpoint import (
    access,
    agents,
    chat_request,
    completion,
    driver,
    envelope,
    key_policy,
    keys,
    stream,
)
from harness.reference.endpoint.agents import Agents, Model
from harness.reference.endpoint.chat_request import ChatRequest, Message
from harness.reference.endpoint.completion import Frame
from harness.reference.endpoint.config import Config
from harness.reference.endpoint.driver import Drive, Say, Why
from harness.reference.endpoint.envelope import Refusal
from harness.reference.endpoint.keys import Key, KeyStore
from harness.reference.endpoint.launched import opencode_of
from harness.reference.endpoint.opencode import SESSION_OPTIONS, Opencode, ReadEvents, read_events
from harness.reference.endpoint.prompt import Prompt, to_prompt
from harness.reference.endpoint.rate_cap import RateMeter
from harness.reference.endpoint.stream import ChunkStream
from harness.reference.endpoint.turn import Failure, Outcome, Question, Turn


@dataclass(frozen=True)
class Parts:
    """What an endpoint is made of; see the default of each field for what it takes and gives."""

    authenticate: Callable[[str | None, KeyStore, float, Parts], Key] = access.authenticate
    accepts: Callable[[Key, float], bool] = access.accepts
    refuse_key: Callable[[Key | None], Refusal] = access.refuse_key
    in_scope: Callable[[Key, Agents, str], bool] = access.in_scope
    refuse_agent: Callable[[str, Callable[[], Awaitable[object]]], Awaitable[Refusal]] = access.refuse_agent
    list_agents: Callable[[Key, Agents], Sequence[str]] = access.list_agents
    one_model: str = agents.ONE_MODEL
    describe_model: Callable[[str], dict[str, Any]] = agents.describe
    model_list: Callable[[list[dict[str, Any]]], Any] = completion.model_list
    not_routed: Callable[[HTTPException], Refusal] = envelope.not_routed
    render_refusal: Callable[[Refusal], Response] = envelope.error_response

    check_owner: Callable[[str | None, Config], None] = key_policy.check_owner
    read_agent_ids: Callable[[object, Agents], tuple[str, ...]] = key_policy.read_agent_ids
    describe_key: Callable[[Key, str | None], dict[str, Any]] = key_policy.describe_key
    digest: Callable[[str], str] = keys.digest
    meter: Callable[[], RateMeter] = RateMeter

    parse: Callable[[bytes, Parts], ChatRequest] = chat_request.parse
    read_stream: Callable[[object], bool] = chat_request.read_stream
    streams: Callable[[bool, Mapping[str, str]], bool] = chat_request.as_asked
    wants_usage: Callable[[object], bool] = chat_request.wants_usage
    read_content: Callable[[object, str], str] = chat_request.read_content
    last_user: Callable[[Sequence[Message]], Message] = chat_request.last_user
    check_empty: Callable[[Message], None] = chat_request.accept_empty

    model_of: Callable[[Agents, str], Model] = agents.model_of
    to_prompt: Callable[[Sequence[Message]], Prompt] = to_prompt
    run_turn: Callable[[Model, Drive, Say | None], Awaitable[Outcome]] = driver.run_once
    make_opencode: Callable[[Config, ReadEvents], Opencode] = opencode_of
    new_session: Callable[[Opencode, Mapping[str, Any], Prompt], Awaitable[str]] = driver.new_session
    session_options: Mapping[str, Any] = field(default_factory=lambda: SESSION_OPTIONS)
    read_events: ReadEvents = read_events
    make_turn: Callable[[str], Turn] = Turn
    answer_question: Callable[[Opencode, Question, Timeout], Awaitable[None]] = driver.reject_question
    keep_time: Callable[[Timeout, float, Turn], None] = driver.keep_deadline
    give_up: Callable[[Opencode, Turn, Why], Awaitable[None]] = driver.abort_turn

    turn_failed: Callable[[Failure], Refusal] = envelope.turn_failed
    new_frame: Callable[[str, Model], Frame] = completion.new_frame
    chunk: Callable[[Frame, dict[str, Any], str | None], dict[str, Any]] = completion.chunk
    unbegun_stream: Callable[[Refusal], Response] = envelope.error_response
    make_stream: Callable[..., ChunkStream] = ChunkStream
    terminator: bytes = stream.TERMINATOR
    stream_headers: Mapping[str, str] = field(default_factory=lambda: stream.HEADERS)
