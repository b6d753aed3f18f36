"""What checks of a model server read in its answers, and expect of them."""

from __future__ import annotations

import re
from typing import Any

from harness.chat import finish_reasons_of, stream_of
from harness.check import Inconclusive, expect
from harness.exchange import Exchange
from harness.expectations import expect_stream, shown
from harness.sse import Event
from harness.telling import concealed

_NAMES_CONTEXT = re.compile(r"context.?(length|window)", re.IGNORECASE)


def usage_of(exchange: Exchange) -> dict[str, Any]:
    """The usage that an answer reports, in its object or in its last chunk that has one; empty when it has none."""
    body = exchange.json()
    holders = [body] if isinstance(body, dict) else stream_of(exchange).chunks
    found = [holder["usage"] for holder in holders if isinstance(holder.get("usage"), dict)]
    return found[-1] if found else {}


def messages_of(exchange: Exchange) -> list[dict[str, Any]]:
    """The message of a whole completion, or the deltas of a streamed one, in their order."""
    body = exchange.json()
    choices = body.get("choices") if isinstance(body, dict) else stream_of(exchange).choices
    parts = [choice.get("message") or choice.get("delta") for choice in choices or () if isinstance(choice, dict)]
    return [part for part in parts if isinstance(part, dict)]


def given_in(exchange: Exchange, field: str) -> str:
    """What the message, or its deltas together, hold as text in a field."""
    return "".join(str(part.get(field) or "") for part in messages_of(exchange))


def expect_answered(exchange: Exchange, why: str) -> str:
    """The answer is a completion with a message, or a stream where one was asked for; its text.

    Whether it has every field of the API is left to the checks that are about that.
    """
    asked = exchange.request.json()
    if isinstance(asked, dict) and asked.get("stream") is True:
        return expect_stream(exchange, why).text
    mend = "answer with a chat.completion object"
    expect(exchange.status == 200, f"status 200 for {why}", shown(exchange), mend, exchange)
    body = exchange.json()
    whole = isinstance(body, dict) and isinstance(body.get("choices"), list) and bool(messages_of(exchange))
    expect(whole, f"a completion with a message for {why}", shown(exchange), mend, exchange)
    return given_in(exchange, "content")


def prompt_tokens(exchange: Exchange, why: str) -> int:
    """The prompt's tokens as the server counts them in its answer; raises Inconclusive when it does not say."""
    expect_answered(exchange, why)
    tokens = usage_of(exchange).get("prompt_tokens")
    if not isinstance(tokens, int) or tokens < 1:
        raise Inconclusive(f"the server does not count the prompt's tokens in usage.prompt_tokens: {shown(exchange)}")
    return tokens


def expect_served(exchange: Exchange, why: str) -> None:
    """The answer says something."""
    expect_answered(exchange, why)
    said = any(
        part.get(name) for part in messages_of(exchange) for name in ("content", "reasoning_content", "reasoning")
    )
    expect(said, f"an answer with content for {why}", shown(exchange), "serve what fits the window", exchange)


def refusal_in(exchange: Exchange) -> str:
    """The message of a refusal, in OpenAI's envelope or flat; empty when there is none."""
    body = exchange.json()
    holder = body.get("error", body) if isinstance(body, dict) else None
    return str(holder.get("message") or "") if isinstance(holder, dict) else ""


def expect_context_refusal(exchange: Exchange, why: str) -> None:
    """The answer is a 400 that names the context length."""
    mend = "refuse with status 400 and a message that names the context length"
    expect(exchange.status == 400, f"status 400 for {why}", shown(exchange), mend, exchange)
    named = _NAMES_CONTEXT.search(refusal_in(exchange))
    expect(named is not None, f"a message that names the context length for {why}", shown(exchange), mend, exchange)


def expect_empty_length(exchange: Exchange, why: str) -> None:
    """The answer is a completion without content and with finish reason `length`."""
    mend = "answer with empty content and finish reason length"
    content = expect_answered(exchange, why)
    reasons = finish_reasons_of(exchange)
    empty = not content and reasons == ["length"]
    expect(empty, f"no content and finish reason 'length' for {why}", shown(exchange), mend, exchange)


def error_in(event: Event) -> dict[str, Any] | None:
    """The error that an event holds, if it has a message, and a type and a code beside it."""
    data = event.json()
    error = data.get("error") if isinstance(data, dict) else None
    if not isinstance(error, dict) or not {"message", "type", "code"} <= error.keys():
        return None
    return error if isinstance(error["message"], str) and error["message"] else None


def expect_failure(exchange: Exchange, why: str) -> None:
    """The answer is an error by its status, or a stream with one error event that nothing but [DONE] follows."""
    event = '`data: {"error": {"message": ..., "type": ..., "code": ...}}`'
    mend = f"answer with an error status, or send {event} and nothing but [DONE] after it"
    if exchange.status is not None and exchange.status >= 400:
        return
    answered = exchange.status == 200 and exchange.content_type == "text/event-stream"
    expect(answered, f"an error status or an event stream for {why}", shown(exchange), mend, exchange)
    stream = expect_stream(exchange, why)
    places = [index for index, event in enumerate(stream.events) if error_in(event) is not None]
    expected = f"one error event, the last but for [DONE], for {why}"
    expect(len(places) == 1, expected, f"{len(places)} in {concealed(exchange.text)[-500:]}", mend, exchange)
    after = [event.data for event in stream.events[places[0] + 1 :]]
    expect(after in ([], ["[DONE]"]), expected, f"after it: {after}", mend, exchange)
