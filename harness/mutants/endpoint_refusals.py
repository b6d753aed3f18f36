"""Endpoints that refuse in the wrong form, or for the wrong reason."""

from __future__ import annotations

from typing import Any

from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse, Response

from harness.mutants.mutant import Mutant, changing
from harness.reference.endpoint.agents import Agents, Model, model_of
from harness.reference.endpoint.chat_request import ChatRequest, parse
from harness.reference.endpoint.envelope import Refusal, error_body, error_response, turn_failed
from harness.reference.endpoint.parts import Parts
from harness.reference.endpoint.rendering import json_response
from harness.reference.endpoint.turn import Failure, Turn


def _without_headers(error: HTTPException) -> Refusal:
    return Refusal(error.status_code, error.detail)


def _no_such_path(_error: HTTPException) -> Refusal:
    return Refusal(404, "There is no such path.")


def _status_as_code(refusal: Refusal) -> Refusal:
    code: Any = refusal.status
    refusal.code = code
    return refusal


def _model_refused_by_status(refusal: Refusal) -> Response:
    return error_response(_status_as_code(refusal) if refusal.param == "model" else refusal)


def _failed_by_status(failure: Failure) -> Refusal:
    refusal = turn_failed(failure)
    return _status_as_code(refusal) if "APIError" in failure.reason else refusal


def _without_nulls(refusal: Refusal) -> Response:
    error = error_body(refusal)["error"]
    said = {name: value for name, value in error.items() if value is not None}
    return json_response({"error": said}, refusal.status, refusal.headers)


def _challenge_as_text(refusal: Refusal) -> Response:
    if refusal.status == 401:
        return PlainTextResponse("Unauthorized", 401, refusal.headers)
    return error_response(refusal)


def _always_server_error(refusal: Refusal) -> Response:
    refusal.type = "server_error"
    return error_response(refusal)


def _unsupported_is_server_error(refusal: Refusal) -> Response:
    """What it cannot do it takes for its own fault."""
    unable = refusal.param in ("stream", "n", "logprobs", "messages") or refusal.status in (405, 429)
    return _always_server_error(refusal) if unable else error_response(refusal)


def _path_in_detail(refusal: Refusal) -> Response:
    if refusal.status == 404 and refusal.code is None:
        return json_response({"detail": refusal.message}, 404, refusal.headers)
    return error_response(refusal)


def _try_late_again(failure: Failure) -> Refusal:
    refusal = turn_failed(failure)
    if failure == Failure("no outcome in time"):
        refusal.headers.clear()
    return refusal


def _try_stream_again(refusal: Refusal) -> Response:
    refusal.headers.clear()
    return error_response(refusal)


def _try_again(failure: Failure) -> Refusal:
    refusal = turn_failed(failure)
    refusal.headers.clear()
    return refusal


class _Breaker:
    """Opens when opencode was down twice in a row, and then refuses before it looks at what is asked."""

    def __init__(self) -> None:
        self._down = 0

    def turn_failed(self, failure: Failure) -> Refusal:
        self._down += "503" in failure.reason
        return turn_failed(failure)

    def make_turn(self, session: str) -> Turn:
        self._down = 0
        return Turn(session)

    def parse(self, body: bytes, parts: Parts) -> ChatRequest:
        try:
            return parse(body, parts)
        except Refusal:
            if self._down < 2:
                raise
            raise turn_failed(Failure("opencode is down")) from None


class _ModelBreaker(_Breaker):
    """Opens likewise, and then refuses before it looks whether the agent has a model."""

    def model_of(self, agents: Agents, agent: str) -> Model:
        if self._down >= 2 and agents[agent] is None:
            raise turn_failed(Failure("opencode is down"))
        return model_of(agents, agent)


_breaker, _model_breaker = _Breaker(), _ModelBreaker()

REFUSALS: tuple[Mutant[Parts], ...] = (
    changing(
        "breaker_before_body",
        "blames the upstream for a mistake of the client",
        "AE-REQ-8",
        parse=_breaker.parse,
        turn_failed=_breaker.turn_failed,
        make_turn=_breaker.make_turn,
    ),
    changing(
        "breaker_before_model",
        "blames the upstream for an agent without a model",
        "AE-REQ-8",
        model_of=_model_breaker.model_of,
        turn_failed=_model_breaker.turn_failed,
        make_turn=_model_breaker.make_turn,
    ),
    changing("methods_untold", "does not tell the right method", "AE-REQ-10", not_routed=_without_headers),
    changing("method_unknown", "takes a wrong method for a wrong path", "AE-REQ-10", not_routed=_no_such_path),
    changing(
        "numeric_code",
        "gives the status, a number, as the error's code",
        "AE-ENV-1",
        "AE-FAULT-3",
        "AE-FAULT-8",
        "AE-FAULT-10",
        "AE-MODELS-2",
        "AE-REQ-2",
        "AE-REQ-7",
        "AE-REQ-8",
        "AE-SCOPE-1",
        "AE-SCOPE-2",
        "AE-SCOPE-3",
        "AE-SCOPE-4",
        "AE-SCOPE-5",
        "AE-STREAM-5",
        "AE-TURN-1",
        "AE-TURN-3",
        render_refusal=_model_refused_by_status,
        turn_failed=_failed_by_status,
    ),
    changing(
        "null_code_left_out",
        "leaves a code out that is null",
        "AE-ENV-1",
        "AE-EMPTY-2",
        "AE-REQ-1",
        "AE-REQ-2",
        "AE-REQ-3",
        "AE-REQ-6",
        "AE-REQ-7",
        "AE-REQ-8",
        "AE-REQ-9",
        "AE-REQ-10",
        "AE-STREAM-1",
        "AE-TURN-3",
        render_refusal=_without_nulls,
    ),
    changing(
        "challenge_as_text",
        "answers 401 in plain text",
        "AE-ENV-1",
        "AE-AUTH-1",
        "AE-AUTH-2",
        "AE-AUTH-3",
        "AE-ENV-2",
        "AE-KEYS-4",
        "AE-REQ-8",
        render_refusal=_challenge_as_text,
    ),
    changing(
        "mistake_is_server_error",
        "calls every refusal an error of its own",
        "AE-ENV-2",
        "AE-KEYS-5",
        "AE-TURN-3",
        render_refusal=_always_server_error,
    ),
    changing(
        "unsupported_is_server_error",
        "calls what it cannot do an error of its own",
        "AE-ENV-2",
        "AE-KEYS-5",
        render_refusal=_unsupported_is_server_error,
    ),
    changing(
        "unknown_path_in_detail",
        "refuses an unknown path in another form",
        "AE-ENV-1",
        "AE-ENV-2",
        render_refusal=_path_in_detail,
    ),
    changing("retry_invited", "leaves x-should-retry out of a 502", "AE-ENV-3", turn_failed=_try_again),
    changing("late_retry_invited", "leaves it out of a late turn's", "AE-ENV-3", turn_failed=_try_late_again),
    changing("stream_retry_invited", "leaves it out of a stream's", "AE-ENV-3", unbegun_stream=_try_stream_again),
)
