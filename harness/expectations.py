"""What many checks expect of an answer, each with the finding that says so."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from harness.actors import JournalReader
from harness.chat import Stream, content_of, error_of, stream_of
from harness.check import expect
from harness.exchange import Exchange
from harness.shapes import flaw
from harness.telling import beginning, concealed

REACHED_SECONDS = 1.0
"""How long after its answer a turn may take to come as far as the model."""


def shown(exchange: Exchange) -> str:
    """An answer in a few words: status, media type and the beginning of the body."""
    if exchange.status is None:
        return f"no answer ({exchange.error or exchange.end})"
    return f"{exchange.status} {exchange.content_type or 'without a media type'}: {beginning(exchange.text) or 'empty'}"


def ending(exchange: Exchange) -> str:
    """The last lines of an answer, whole ones as long as they are few words."""
    *earlier, last = concealed(exchange.text).rstrip("\n").split("\n")
    kept = last[:300]
    for line in reversed(earlier):
        if len(line) + len(kept) >= 300:
            break
        kept = f"{line}\n{kept}"
    return kept.strip("\n")


ENVELOPE = 'OpenAI\'s error envelope, {"error": {"message": "...", "type": "...", "param": null, "code": null}}'
"""How each refusal looks; `type` is `invalid_request_error` or `server_error`, `param` and `code` may be strings."""


def expect_refusal(exchange: Exchange, statuses: Collection[int], why: str, mend: str, code: str | None = None) -> None:
    """The answer is an error envelope with one of `statuses` (and that `code`); `why` completes "for ..."."""
    wanted = " or ".join(map(str, sorted(statuses)))
    expect(exchange.status in statuses, f"status {wanted} for {why}", shown(exchange), mend, exchange)
    expect(
        exchange.content_type == "application/json",
        f"an error envelope as application/json for {why}",
        shown(exchange),
        "answer refusals with content-type application/json",
        exchange,
    )
    wrong = flaw("error", exchange.json())
    expect(wrong is None, f"{ENVELOPE}, for {why}", f"{wrong}; {shown(exchange)}", mend, exchange)
    if code is not None:
        came = error_of(exchange).get("code")
        expect(came == code, f"error.code {code!r} for {why}", repr(came), f"set error.code to {code!r}", exchange)


def expect_completion(exchange: Exchange, why: str) -> str:
    """The answer is a JSON `chat.completion`; its content."""
    expect(
        exchange.status == 200 and exchange.content_type == "application/json",
        f"a 200 with a JSON completion for {why}",
        shown(exchange),
        "answer with a chat.completion object",
        exchange,
    )
    wrong = flaw("chat_completion", exchange.json())
    expect(wrong is None, f"a valid chat.completion for {why}", f"{wrong}; {shown(exchange)}", "mend it", exchange)
    return content_of(exchange) or ""


def expect_stream(exchange: Exchange, why: str) -> Stream:
    """The answer is an event stream that ended by itself."""
    expect(
        exchange.status == 200 and exchange.content_type == "text/event-stream",
        f"a 200 with text/event-stream for {why}",
        shown(exchange),
        "answer stream: true with server-sent events",
        exchange,
    )
    expect(
        exchange.end == "complete",
        f"a stream that the endpoint ends for {why}",
        f"end {exchange.end!r} ({exchange.error}) after {shown(exchange)}",
        "end the stream after its last event",
        exchange,
    )
    return stream_of(exchange)


def expect_answer(exchange: Exchange, why: str) -> str:
    """The answer is a stream where one was asked for, else a JSON completion; its text."""
    asked = exchange.request.json()
    if isinstance(asked, dict) and asked.get("stream") is True:
        return expect_stream(exchange, why).text
    return expect_completion(exchange, why)


def expect_said(text: str, nonce: str, exchange: Exchange) -> None:
    """The model's nonce is in the answer: the turn really went all the way."""
    mend = "pass the model's answer on"
    expect(
        nonce in text, f"an answer that holds the model's word {nonce}", beginning(text) or "empty text", mend, exchange
    )


def expect_reached(journal: JournalReader, word: str, reply: Exchange, why: str) -> None:
    """The turn came as far as the model: who refuses everything has refused nothing in particular."""

    def reached(calls: Sequence[Exchange]) -> bool:
        return any(word.encode() in call.request.body for call in calls)

    calls = journal.wait(f"reached: {why}", "model", reached, REACHED_SECONDS)
    came = f"{len(calls)} model calls, and none holds it; the answer was {shown(reply)}"
    mend = "prompt opencode, and answer by what comes of it"
    expect(reached(calls), f"a model call with the word {word} of the prompt for {why}", came, mend, reply)


def expect_no_calls(calls: Sequence[Exchange], where: str, why: str) -> None:
    """Nothing arrived on a hop."""
    came = ", ".join(f"{call.request.method} {call.request.path}" for call in calls[:5])
    mend = "refuse the request before anything is sent upstream"
    expect(not calls, f"no request to {where} for {why}", f"{len(calls)}: {came}", mend, calls[0] if calls else None)
