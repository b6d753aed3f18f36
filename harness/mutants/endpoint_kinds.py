"""Endpoints that give another kind of answer than the one that is asked for, or due."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence

from harness.mutants.endpoint_streams import Holds
from harness.mutants.mutant import Mutant, changing
from harness.reference.endpoint.access import no_such_model
from harness.reference.endpoint.chat_request import ChatRequest, parse
from harness.reference.endpoint.envelope import Refusal, turn_failed
from harness.reference.endpoint.parts import Parts
from harness.reference.endpoint.turn import Failure


def _success_anyhow(failure: Failure) -> Refusal:
    refusal = turn_failed(failure)
    refusal.status = 200
    return refusal


def _mistake_is_200(body: bytes, parts: Parts) -> ChatRequest:
    try:
        return parse(body, parts)
    except Refusal as refusal:
        refusal.status = 200
        raise


async def _stranger_is_200(agent: str, _drive: Callable[[], Awaitable[object]]) -> Refusal:
    refusal = no_such_model(agent)
    refusal.status = 200
    return refusal


def _always(_stream: bool, _headers: Mapping[str, str]) -> bool:
    return True


def _accept_compared(stream: bool, headers: Mapping[str, str]) -> bool:
    """`Accept` must be the media type as it is sent, with its charset."""
    kind = "text/event-stream" if stream else "application/json"
    if headers.get("accept", "*/*") not in ("*/*", f"{kind}; charset=utf-8"):
        raise Refusal(406, "Not acceptable.")
    return stream


def _json_wins(stream: bool, headers: Mapping[str, str]) -> bool:
    accepted = headers.get("accept", "*/*")
    return stream and not any(kind in accepted for kind in ("application/json", "*/*"))


def _event_stream_wins(stream: bool, headers: Mapping[str, str]) -> bool:
    return stream or headers.get("accept") == "text/event-stream"


def _ids(**numbers: Sequence[int]) -> list[str]:
    """The ids of these rows, by their topics: for what so much stands on."""
    return [f"AE-{topic}-{number}" for topic, each in numbers.items() for number in each]


KINDS: tuple[Mutant[Parts], ...] = (
    changing(
        "always_streams",
        "streams whatever is asked for, at the turn's end",
        *_ids(
            AUTH=(2, 3),
            CLIENT=(1,),
            EMPTY=(1, 2, 3),
            ENV=(1, 2, 3),
            FAULT=(1, 2, 3, 4, 7, 8, 9, 10),
            KEYS=(2, 5),
            REPLY=(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11),
            REQ=(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12),
            SCOPE=(1, 2, 3, 4, 5),
            STREAM=(1, 2, 4, 7, 9, 11),
            TURN=(1, 2, 3, 4, 5, 6, 7, 8, 9),
        ),
        streams=_always,
        make_stream=Holds,
    ),
    changing("accept_streams", "streams for `Accept: text/event-stream`", "AE-STREAM-11", streams=_event_stream_wins),
    changing(
        "accept_json_wins",
        "streams for clients only that do not accept JSON",
        *_ids(
            CLIENT=(1,),
            REPLY=(3, 7, 8, 9, 10, 11),
            REQ=(11,),
            STREAM=(3, 4, 5, 6, 7, 8, 9, 10, 11),
            TURN=(1, 5, 6, 7, 8),
        ),
        streams=_json_wins,
    ),
    changing(
        "accept_compared",
        "compares `Accept` letter by letter",
        "AE-STREAM-11",
        "AE-CLIENT-1",
        streams=_accept_compared,
    ),
    changing(
        "failure_is_200",
        "answers every failed turn with 200",
        *_ids(
            CLIENT=(1,),
            ENV=(1, 3),
            FAULT=(1, 2, 3, 4, 5, 6, 7, 10, 11),
            REPLY=(1, 2, 3, 10),
            REQ=(8,),
            STREAM=(5, 7, 8, 9),
            TURN=(1,),
        ),
        make_stream=Holds,
        turn_failed=_success_anyhow,
    ),
    changing(
        "mistake_is_200",
        "refuses what is wrong with a request with 200",
        *_ids(
            AUTH=(2,),
            CLIENT=(1,),
            EMPTY=(2,),
            ENV=(1, 2),
            REQ=(1, 2, 3, 6, 7, 8, 9),
            SCOPE=(1, 2, 3, 4, 5),
            STREAM=(1, 9),
        ),
        parse=_mistake_is_200,
        refuse_agent=_stranger_is_200,
    ),
)
