"""Endpoints that drive turns wrongly, or the wrong ones."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any

import aiohttp

from harness.mutants.mutant import Mutant, changing
from harness.reference.endpoint.agents import Agents, Model, model_of
from harness.reference.endpoint.chat_request import Message, last_user
from harness.reference.endpoint.driver import Drive, Say, new_session
from harness.reference.endpoint.envelope import Refusal
from harness.reference.endpoint.opencode import Opencode
from harness.reference.endpoint.parts import Parts
from harness.reference.endpoint.prompt import Prompt, to_prompt
from harness.reference.endpoint.turn import Failure, Outcome, Question, Reply

_SEATS = 12


def _any_last(messages: Sequence[Message]) -> Message:
    try:
        return last_user(messages)
    except Refusal:
        return messages[-1]


def _missing_is_502(messages: Sequence[Message]) -> Message:
    try:
        return last_user(messages)
    except Refusal as refusal:
        raise Refusal(502, refusal.message, type="server_error", code="agent_error") from None


def _up_to_full_user(messages: Sequence[Message]) -> Prompt:
    full = [index for index, message in enumerate(messages) if message.role == "user" and message.text.strip()]
    empty_last = not last_user(messages).text.strip()
    return to_prompt(messages[: full[-1] + 1] if empty_last and full else messages)


async def _streams_twice(_model: Model, drive: Drive, say: Say | None) -> Outcome:
    outcome = await drive(say)
    if say is not None and isinstance(outcome, Reply):
        await drive(None)
    return outcome


def _same_question_same_session() -> Any:
    sessions: dict[Prompt, str] = {}

    async def session_for(opencode: Opencode, options: Mapping[str, Any], prompt: Prompt) -> str:
        if prompt not in sessions:
            sessions[prompt] = await new_session(opencode, options, prompt)
        return sessions[prompt]

    return session_for


def _some_model(agents: Agents, agent: str) -> Model:
    return model_of(agents, agent if agents[agent] else next(name for name, model in agents.items() if model))


def _modelless_is_502(agents: Agents, agent: str) -> Model:
    if agents[agent] is None:
        raise Refusal(502, "The agent has no model.", type="server_error", code="agent_error")
    return model_of(agents, agent)


def _users_first(messages: Sequence[Message]) -> Prompt:
    return to_prompt(sorted(messages, key=lambda message: message.role == "assistant"))


def _up_to_last_user(messages: Sequence[Message]) -> Prompt:
    return to_prompt(messages[: max(n for n, message in enumerate(messages, 1) if message.role == "user")])


def _one_system(messages: Sequence[Message]) -> Prompt:
    """Of what the system says, the model is told the first message."""
    first = next((each for each in messages if each.role == "system"), None)
    return to_prompt([each for each in messages if each.role != "system" or each is first])


def _in_pairs(messages: Sequence[Message]) -> Prompt:
    """What users said with its answers, and the last of it: more the model is not told."""
    users, answers = ([each for each in messages if each.role == role] for role in ("user", "assistant"))
    told = [each for pair in zip(users, answers, strict=False) for each in pair]
    return to_prompt([*told, last_user(messages)])


async def _compared(_model: Model, drive: Drive, say: Say | None) -> Outcome:
    """Without a stream there is time to see whether the agent would say it again."""
    outcome = await drive(say)
    if say is None and outcome != Failure("no outcome in time"):
        await drive(None)
    return outcome


class _ProbesWithoutPassword(Opencode):
    async def create_session(self, options: Mapping[str, Any]) -> str:
        with suppress(aiohttp.ClientError):
            async with aiohttp.request("GET", f"{self._url}/session/status"):
                pass
        return await super().create_session(options)


class _RejectsWithoutPassword(Opencode):
    async def reject(self, question: Question) -> None:
        url = f"{self._url}/{question.kind}/{question.id}/reply"
        with suppress(aiohttp.ClientError):
            async with aiohttp.request("POST", url, json={"reply": "reject"}, params=self._folder):
                pass


class _DoesNotAwaitSubscription(Opencode):
    @asynccontextmanager
    async def events(self) -> AsyncIterator[AsyncIterator[dict[str, Any]]]:
        async with AsyncExitStack() as ends:
            subscription = asyncio.ensure_future(ends.enter_async_context(super().events()))
            ends.callback(subscription.cancel)
            yield _once_subscribed(subscription)


_HOPED_SECONDS = 0.05
"""How long it waits in the hope that the subscription is there by then."""


async def _once_subscribed(
    subscription: asyncio.Future[AsyncIterator[dict[str, Any]]],
) -> AsyncIterator[dict[str, Any]]:
    await asyncio.sleep(_HOPED_SECONDS)
    yield {"type": "server.connected", "properties": {}}
    async for event in await subscription:
        yield event


def _twelve_seats() -> Any:
    taken = Counter[str]()

    async def run(_model: Model, drive: Drive, say: Say | None) -> Outcome:
        if taken["seats"] >= _SEATS:
            return Failure("too many turns at once")
        taken["seats"] += 1
        try:
            return await drive(say)
        finally:
            taken["seats"] -= 1

    return run


def _one_model_at_a_time() -> Any:
    under_way = Counter[Model]()
    changed = asyncio.Condition()

    async def run(model: Model, drive: Drive, say: Say | None) -> Outcome:
        async with changed:
            await changed.wait_for(lambda: not any(count for other, count in under_way.items() if other != model))
            under_way[model] += 1
        try:
            return await drive(say)
        finally:
            async with changed:
                under_way[model] -= 1
                changed.notify_all()

    return run


class _HearsDefaultFolder(Opencode):
    @asynccontextmanager
    async def events(self) -> AsyncIterator[AsyncIterator[dict[str, Any]]]:
        async with Opencode.events(self.at(None)) as events:
            yield events


class _AnswersInDefaultFolder(Opencode):
    async def reject(self, question: Question) -> None:
        await Opencode.reject(self.at(None), question)


def _unknown_browser(stream: bool, headers: Mapping[str, str]) -> bool:
    if headers.get("user-agent", "").startswith("OpenAI/"):
        raise Refusal(403, "This client is not welcome.")
    return stream


def _bare(models: list[dict[str, Any]]) -> Any:
    return models


TURNS: tuple[Mutant[Parts], ...] = (
    changing("no_user_needed", "prompts without a user message", "AE-EMPTY-2", "AE-REQ-8", last_user=_any_last),
    changing(
        "no_user_is_502", "answers 502 without a user message", "AE-EMPTY-2", "AE-REQ-8", last_user=_missing_is_502
    ),
    changing("earlier_stands_in", "prompts the last full message", "AE-EMPTY-3", to_prompt=_up_to_full_user),
    changing("streams_twice", "drives a streamed turn twice", "AE-TURN-1", "AE-SCOPE-4", run_turn=_streams_twice),
    changing(
        "json_twice",
        "drives a turn twice that is not streamed",
        "AE-TURN-1",
        "AE-EMPTY-1",
        "AE-FAULT-3",
        "AE-REPLY-6",
        "AE-SCOPE-4",
        "AE-TURN-2",
        run_turn=_compared,
    ),
    changing("session_by_question", "reuses sessions", "AE-TURN-1", new_session=_same_question_same_session()),
    changing(
        "modelless_gets_another", "lends a model to an agent without", "AE-TURN-3", "AE-REQ-8", model_of=_some_model
    ),
    changing("modelless_is_502", "answers 502 without a model", "AE-TURN-3", "AE-REQ-8", model_of=_modelless_is_502),
    changing("users_first", "puts assistants' messages last", "AE-TURN-4", to_prompt=_users_first),
    changing("history_in_pairs", "tells pairs of messages only", "AE-TURN-4", "AE-REQ-9", to_prompt=_in_pairs),
    changing("one_system_message", "tells the first system message only", "AE-TURN-4", to_prompt=_one_system),
    changing("last_assistant_dropped", "stops at the last user", "AE-TURN-4", to_prompt=_up_to_last_user),
    changing("probe_without_password", "probes bare", "AE-TURN-5", make_opencode=_ProbesWithoutPassword),
    changing("rejects_without_password", "answers questions bare", "AE-TURN-5", make_opencode=_RejectsWithoutPassword),
    changing("prompt_first", "hopes for its subscription", "AE-TURN-6", make_opencode=_DoesNotAwaitSubscription),
    changing("twelve_seats", "runs twelve turns at once", "AE-TURN-7", run_turn=_twelve_seats()),
    changing("one_model_at_a_time", "runs one model at a time", "AE-TURN-8", run_turn=_one_model_at_a_time()),
    changing("default_folder_heard", "hears the default folder", "AE-TURN-9", make_opencode=_HearsDefaultFolder),
    changing("default_folder_told", "answers there", "AE-TURN-9", make_opencode=_AnswersInDefaultFolder),
    changing(
        "bare_model_list",
        "lists models as a bare list",
        "AE-MODELS-1",
        "AE-CLIENT-1",
        "AE-KEYS-2",
        "AE-SCOPE-5",
        model_list=_bare,
    ),
    changing("openai_client_refused", "refuses a user agent", "AE-CLIENT-1", streams=_unknown_browser),
)
