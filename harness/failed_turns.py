"""What is expected of the answer to a turn that failed: in JSON, and as a stream."""

from __future__ import annotations

from collections.abc import Collection

from harness.check import expect
from harness.exchange import Exchange
from harness.expectations import ending, expect_refusal, expect_stream
from harness.sse import Event

MEND_STREAM = 'send `data: {"error": {"message": ..., "type": ..., "code": ...}}` and nothing but [DONE] after it'
MEND_UNBEGUN = "answer 502 in the error envelope, or an error event in the stream"
BAD_GATEWAY = frozenset({502})


def expect_failed(
    exchange: Exchange, why: str, mend: str = MEND_UNBEGUN, statuses: Collection[int] = BAD_GATEWAY
) -> None:
    """The answer tells a failed turn: a refusal with one of `statuses`, or, where a stream was asked for, in it."""
    asked = exchange.request.json()
    if isinstance(asked, dict) and asked.get("stream") is True:
        expect_failed_stream(exchange, why, statuses)
    else:
        expect_refusal(exchange, statuses, why, mend)


def expect_failed_stream(exchange: Exchange, why: str, statuses: Collection[int] = BAD_GATEWAY) -> None:
    """A refusal in JSON, or an event stream that holds one error and after it neither content nor a finish reason."""
    if exchange.content_type != "text/event-stream":
        expect_refusal(exchange, statuses, why, MEND_UNBEGUN)
        return
    stream = expect_stream(exchange, why)
    places = [index for index, event in enumerate(stream.events) if error_in(event) is not None]
    expected = f"one error event, the last but for [DONE], for {why}"
    expect(len(places) == 1, expected, f"{len(places)} in {ending(exchange)}", MEND_STREAM, exchange)
    error = error_in(stream.events[places[0]])
    said = isinstance(error, dict) and bool(error.get("message")) and isinstance(error.get("message"), str)
    complete = said and isinstance(error, dict) and isinstance(error.get("type"), str) and "code" in error
    expect(complete, f"an error with message, type and code for {why}", repr(error), MEND_STREAM, exchange)
    after = [event.data for event in stream.events[places[0] + 1 :]]
    expect(after in ([], ["[DONE]"]), expected, f"after it: {after}", MEND_STREAM, exchange)


def expect_whole_or_failed(exchange: Exchange, said: str, why: str) -> None:
    """A streamed answer that is whole, or tells its failure: half of one does not pass for the whole."""
    if exchange.content_type == "text/event-stream":
        stream = expect_stream(exchange, why)
        if stream.text == said and all(error_in(event) is None for event in stream.events):
            return
    expect_failed_stream(exchange, why)


def error_in(event: Event) -> object:
    """The `error` that an event's data holds, or None."""
    data = event.json()
    return data.get("error") if isinstance(data, dict) else None
