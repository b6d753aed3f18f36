"""Broken model servers, each a small change to a face of the stand-in."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from harness.exchange import Chunk, Request, header
from harness.fakes.model.core import json_plan
from harness.fakes.model.face import Face, over
from harness.fakes.model.gym import EMPTY_ID
from harness.fakes.model.limits import Size
from harness.fakes.model.wording import Refusal, openai_unknown_model
from harness.fakes.plan import Plan
from harness.mutants.mutant import Mutant, named
from harness.sse import encode

Says = Callable[[Request, Plan], Plan]


@dataclass(frozen=True)
class Flaw(Mutant[Face]):
    """A change to the face of that name."""

    face: str = "openai"


def _flaw(name: str, does: str, caught_by: str, face: str = "openai", **changes: Any) -> Flaw:
    apply = partial(replace, **changes)
    return Flaw(name, does, frozenset(caught_by.split()), apply, of=f"model-stand-in:{face}", face=face)


# Answers


def _is_stream(plan: Plan) -> bool:
    return plan.status == 200 and "event-stream" in (header(plan.headers, "content-type") or "")


def _body(plan: Plan) -> bytes:
    return b"".join(piece.data for piece in plan.pieces)


def _on_events(change: Callable[[Any], Any]) -> Says:
    """Changes each JSON event of a stream; one that becomes None is left out."""

    def said(event: bytes) -> bytes:
        data = event.removeprefix(b"data: ")
        if data.strip() == b"[DONE]" or not event.startswith(b"data: "):
            return event
        changed = change(json.loads(data))
        return b"" if changed is None else encode(changed)

    def says(_request: Request, plan: Plan) -> Plan:
        if not _is_stream(plan) or plan.fault == "bad_chunk":
            return plan
        pieces = [Chunk(piece.at, b"".join(map(said, _events(piece.data)))) for piece in plan.pieces]
        return replace(plan, pieces=tuple(piece for piece in pieces if piece.data))

    return says


def _events(data: bytes) -> list[bytes]:
    return [event + b"\n\n" for event in data.split(b"\n\n") if event]


def _on_completions(change: Callable[[Any], Any]) -> Says:
    """Changes each whole completion."""

    def says(_request: Request, plan: Plan) -> Plan:
        body = json.loads(_body(plan)) if plan.status == 200 and not _is_stream(plan) and plan.pieces else None
        whole = isinstance(body, dict) and body.get("object") == "chat.completion" and plan.ending == "complete"
        return replace(json_plan(change(body)), gate=plan.gate, fault=plan.fault) if whole else plan

    return says


def _without(*names: str) -> Callable[[Any], Any]:
    return lambda value: {name: item for name, item in value.items() if name not in names}


def _spaces_joined(chunk: Any) -> Any:
    for choice in chunk.get("choices", ()):
        if choice["delta"].get("content"):
            choice["delta"]["content"] = choice["delta"]["content"].replace("  ", " ")
    return chunk


def _without_done(_request: Request, plan: Plan) -> Plan:
    kept = tuple(piece for piece in plan.pieces if piece.data != b"data: [DONE]\n\n")
    return replace(plan, pieces=kept) if _is_stream(plan) else plan


def _done_twice(_request: Request, plan: Plan) -> Plan:
    ended = _is_stream(plan) and _body(plan).endswith(b"data: [DONE]\n\n")
    return replace(plan, pieces=(*plan.pieces, plan.pieces[-1])) if ended else plan


def _without_usage_chunk(chunk: Any) -> Any:
    return None if chunk.get("usage") else chunk


def _wrong_total(chunk: Any) -> Any:
    usage = chunk.get("usage")
    return {**chunk, "usage": {**usage, "total_tokens": usage["completion_tokens"]}} if usage else chunk


def _without_call_index(chunk: Any) -> Any:
    for choice in chunk.get("choices", ()):
        for call in choice["delta"].get("tool_calls", ()):
            call.pop("index", None)
    return chunk


def _calls_on_one_index(chunk: Any) -> Any:
    for choice in chunk.get("choices", ()):
        for call in choice["delta"].get("tool_calls", ()):
            call["index"] = 0
    return chunk


def _error_as_end(chunk: Any) -> Any:
    if "error" not in chunk:
        return chunk
    choices = [{"index": 0, "delta": {}, "finish_reason": "stop"}]
    shared = {"id": "chatcmpl-flaw", "object": "chat.completion.chunk", "created": 1, "model": "flaw"}
    return {**shared, "choices": choices}


def _bare_error(chunk: Any) -> Any:
    return {"error": {}} if "error" in chunk else chunk


def _failure_as_success(request: Request, plan: Plan) -> Plan:
    """What fails with 5xx, and was to be streamed, is a stream that ends well."""
    if plan.status is None or plan.status < 500 or not request.json().get("stream"):
        return plan
    ended = encode(_error_as_end({"error": {}})) + b"data: [DONE]\n\n"
    return Plan(200, (("content-type", "text/event-stream"),), (Chunk(0.0, ended),), stream=True)


def _mended(_request: Request, plan: Plan) -> Plan:
    """What breaks off is ended as if all had been said."""
    if not _is_stream(plan) or plan.ending not in ("cut", "reset"):
        return plan
    end = encode(_error_as_end({"error": {}})) + b"data: [DONE]\n\n"
    return replace(plan, pieces=(*plan.pieces, Chunk(plan.pieces[-1].at, end)), ending="complete")


def _stop_for_length(value: Any) -> Any:
    for choice in value.get("choices", ()):
        choice["finish_reason"] = "stop" if choice.get("finish_reason") == "length" else choice.get("finish_reason")
    return value


def _whole_text(said: Any) -> Any:
    """A cut answer that is as long as if it had not been cut."""
    choice = said["choices"][0]
    if choice.get("finish_reason") == "length":
        choice["message"]["content"] = choice["message"]["content"].ljust(2000, ".")
    return said


# Sizes and refusals


def _empty_for(holds: Callable[[Plan], bool]) -> Says:
    """An empty completion in the place of a refusal."""

    def says(_request: Request, plan: Plan) -> Plan:
        if plan.status != 400 or not holds(plan):
            return plan
        message = {"role": "assistant", "content": None}
        choices = [{"index": 0, "message": message, "finish_reason": "length"}]
        return json_plan({"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": choices})

    return says


def _is_of_context(plan: Plan) -> bool:
    return b"context length" in _body(plan)


def _vague(_size: Size) -> str:
    return "the request cannot be served"


def _one_late(size: Size) -> bool:
    return size.total > size.window + 1


def _one_early(size: Size) -> bool:
    return size.total >= size.window


def _limit_alone(size: Size) -> bool:
    """Whether it is over by its limit, and not by its prompt alone."""
    return over(size) and size.prompt <= size.window


def _at_any_size(_size: Size) -> bool:
    return False


def _context_as_400(_request: Request, plan: Plan) -> Plan:
    """The refusal that was to become an empty completion, as it came."""
    if EMPTY_ID.encode() not in _body(plan):
        return plan
    message = {"error": {"message": "This model's maximum context length was exceeded", "type": "x", "code": None}}
    return json_plan(message, 400)


# Rollouts


def _loose_as_rollout(rollout: str | None) -> str | None:
    return rollout or "none"


def _first_part(rollout: str | None) -> str | None:
    return rollout.partition("-")[0] if rollout else rollout


def _last_words(kept: dict[str, Any]) -> dict[str, Any]:
    request = kept["request"]
    return {**kept, "request": {**request, "messages": request.get("messages", [])[-1:], "max_tokens": None}}


def _without_answer(kept: dict[str, Any]) -> dict[str, Any]:
    return {**kept, "response": None}


def _without_usage(kept: dict[str, Any]) -> dict[str, Any]:
    return {**kept, "response": _without("usage")(kept["response"])} if kept["response"] else kept


def _unless_failed(kept: dict[str, Any]) -> dict[str, Any]:
    return kept if kept["status_code"] == 200 else {}


FLAWS: tuple[Flaw, ...] = (
    _flaw("wrong_object", "calls a completion something else", "MS-CHAT-1", says=_on_completions(_without("object"))),
    _flaw("chunks_without_date", "leaves the date out of chunks", "MS-CHAT-1", says=_on_events(_without("created"))),
    _flaw("spaces_joined", "joins double spaces of a stream", "MS-CHAT-1", says=_on_events(_spaces_joined)),
    _flaw("no_window", "serves whatever the size", "MS-WINDOW-1 MS-WINDOW-2", over=_at_any_size),
    _flaw("vague_refusal", "does not name the context length", "MS-WINDOW-1 MS-WINDOW-2", over_window=_vague),
    _flaw("long_prompts", "looks at limits alone", "MS-WINDOW-1", over=_limit_alone),
    _flaw("empty_for_error", "answers empty", "MS-WINDOW-1 MS-WINDOW-2", says=_empty_for(_is_of_context)),
    _flaw("gym_refuses", "passes the refusal on", "MS-WINDOW-1 MS-WINDOW-2", face="gym", says=_context_as_400),
    _flaw("unclamped", "refuses what it should cut", "MS-WINDOW-1", face="vllm-0.33", over=over),
    _flaw("window_too_large", "serves one token more", "MS-WINDOW-2", over=_one_late),
    _flaw("window_too_small", "refuses what fills the window", "MS-WINDOW-2", over=_one_early),
    _flaw(
        "every_400_empty",
        "answers every refusal with an empty completion",
        "MS-WINDOW-3",
        says=_empty_for(lambda plan: not _is_of_context(plan)),
    ),
    _flaw("old_limit_only", "does not know max_completion_tokens", "MS-MAXTOK-1", limits=("max_tokens",)),
    _flaw(
        "new_limit_only",
        "does not know max_tokens",
        "MS-MAXTOK-1 MS-WINDOW-1 MS-WINDOW-2",
        limits=("max_completion_tokens",),
    ),
    _flaw("limit_told_only", "says that it cut, and did not", "MS-MAXTOK-1", says=_on_completions(_whole_text)),
    _flaw("cut_is_stop", "ends a cut answer with stop", "MS-MAXTOK-1", says=_on_completions(_stop_for_length)),
    _flaw("cut_stream_is_stop", "ends a cut stream with stop", "MS-MAXTOK-1", says=_on_events(_stop_for_length)),
    _flaw("reasoning_in_content", "mixes reasoning into the content", "MS-REASON-1", reasoning_fields=("content",)),
    _flaw("other_reasoning_field", "gives reasoning elsewhere", "MS-REASON-1", reasoning_fields=("thinking",)),
    _flaw("no_rollouts", "knows no prefix", "MS-CAPTURE-1 MS-CAPTURE-2 MS-CAPTURE-3", rollouts=False),
    _flaw("request_cut", "keeps the end of a request", "MS-CAPTURE-1", keeps=_last_words),
    _flaw("usage_not_kept", "keeps no usage", "MS-CAPTURE-1", keeps=_without_usage),
    _flaw("failures_not_kept", "keeps nothing of what failed", "MS-CAPTURE-1", keeps=_unless_failed),
    _flaw("gym_answer_not_kept", "keeps no answer", "MS-CAPTURE-1 MS-CAPTURE-3", face="gym", keeps=_without_answer),
    _flaw("loose_calls_kept", "keeps calls that belong to no rollout", "MS-CAPTURE-2", files=_loose_as_rollout),
    _flaw("ids_shortened", "keeps calls under the beginning of an id", "MS-CAPTURE-2", files=_first_part),
    _flaw("no_token_ids", "gives no token ids", "MS-CAPTURE-3", token_ids=False),
    _flaw("any_key", "takes any key", "MS-AUTH-1", knows_keys=False),
    _flaw("unknown_key_403", "answers 403 to nobody's key", "MS-AUTH-1", unknown_key=Refusal(403, "no", "x")),
    _flaw(
        "foreign_model_400",
        "answers 400 for another key's model",
        "MS-AUTH-1",
        foreign_model=lambda model: replace(openai_unknown_model(model), status=400),
    ),
    _flaw("proxy_any_key", "takes any key", "MS-AUTH-1", face="proxy", knows_keys=False),
    _flaw("no_done", "ends a stream without [DONE]", "MS-STREAM-1", says=_without_done),
    _flaw("done_twice", "says [DONE] twice", "MS-STREAM-1", says=_done_twice),
    _flaw("no_usage_chunk", "gives no usage in streams", "MS-STREAM-1", says=_on_events(_without_usage_chunk)),
    _flaw("wrong_total", "adds usage up wrongly", "MS-STREAM-1", says=_on_events(_wrong_total)),
    _flaw("call_without_index", "gives calls no index", "MS-STREAM-1", says=_on_events(_without_call_index)),
    _flaw("calls_on_one_index", "mixes two calls", "MS-STREAM-1", says=_on_events(_calls_on_one_index)),
    _flaw("error_as_end", "ends a failed stream well", "MS-STREAM-1", says=_on_events(_error_as_end)),
    _flaw("bare_error", "does not say what went wrong", "MS-STREAM-1", says=_on_events(_bare_error)),
    _flaw("failure_as_success", "takes a failure for an end", "MS-STREAM-1", says=_failure_as_success),
    _flaw("breaking_off_mended", "ends what broke off", "MS-STREAM-1", says=_mended),
    _flaw("models_unlisted", "lists no models", "MS-MODELS-1", lists_models=False),
)


def find(name: str) -> Flaw:
    """The flaw of that name; raises UsageError."""
    return named(name, FLAWS)
