from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import harness
from harness.exchange import Request
from harness.fakes.model.core import respond
from harness.fakes.model.script import Answer
from harness.sse import parse

SCHEMAS = Path(harness.__file__).parent / "fixtures" / "schemas"
MODELS = frozenset({"a", "vendor/b"})

USAGE: dict[str, Any] = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}
CHOICE: dict[str, Any] = {"index": 0, "message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}
COMPLETION: dict[str, Any] = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [CHOICE]}
DELTA: dict[str, Any] = {"index": 0, "delta": {"role": "assistant", "content": "hi"}, "finish_reason": None}
CHUNK: dict[str, Any] = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [DELTA]}
INNER: dict[str, Any] = {"message": "no", "type": "invalid_request_error", "code": None, "param": None}
MODEL: dict[str, Any] = {"id": "a", "object": "model", "created": 0, "owned_by": ""}


def without(value: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: item for name, item in value.items() if name != key}


def chose(**changes: Any) -> dict[str, Any]:
    return {**COMPLETION, "choices": [{**CHOICE, **changes}]}


def streamed(**changes: Any) -> dict[str, Any]:
    return {**CHUNK, "choices": [{**DELTA, **changes}]}


GOOD: list[tuple[str, Any]] = [
    ("chat_completion", COMPLETION),
    ("chat_completion", {**COMPLETION, "usage": USAGE, "system_fingerprint": None, "extra": 1}),
    ("chat_completion", chose(message={"role": "assistant", "content": None, "tool_calls": []}, logprobs=None)),
    *(("chat_completion", chose(finish_reason=r)) for r in ("length", "tool_calls", "content_filter", "function_call")),
    ("chat_completion_chunk", CHUNK),
    ("chat_completion_chunk", {**CHUNK, "usage": None, "extra": 1}),
    ("chat_completion_chunk", {**CHUNK, "choices": [], "usage": USAGE}),
    ("chat_completion_chunk", streamed(delta={}, finish_reason="stop", logprobs=None)),
    ("chat_completion_chunk", streamed(delta={"content": None, "reasoning_content": "x"})),
    ("chat_completion_chunk", {**CHUNK, "choices": [without(DELTA, "finish_reason")]}),
    ("error", {"error": INNER}),
    ("error", {"error": {**without(INNER, "param"), "code": "model_not_found", "extra": 1}, "extra": 1}),
    ("error", {"error": {**INNER, "param": "model"}}),
    ("model_list", {"object": "list", "data": []}),
    ("model_list", {"object": "list", "data": [MODEL, {**MODEL, "id": "vendor/b", "extra": 1}], "extra": 1}),
]

BAD: list[tuple[str, Any]] = [
    *(("chat_completion", without(COMPLETION, key)) for key in COMPLETION),
    *(("chat_completion", chose(finish_reason=reason)) for reason in (None, "error", "unknown", "")),
    ("chat_completion", {**COMPLETION, "choices": []}),
    ("chat_completion", {**COMPLETION, "choices": CHOICE}),
    ("chat_completion", {**COMPLETION, "choices": [1]}),
    *(("chat_completion", {**COMPLETION, "choices": [without(CHOICE, key)]}) for key in CHOICE),
    ("chat_completion", {**COMPLETION, "object": "chat.completion.chunk"}),
    ("chat_completion", {**COMPLETION, "created": "1"}),
    ("chat_completion", {**COMPLETION, "created": 1.5}),
    ("chat_completion", {**COMPLETION, "id": ""}),
    ("chat_completion", {**COMPLETION, "model": None}),
    ("chat_completion", chose(message={"role": "assistant"})),
    ("chat_completion", chose(message={"role": "user", "content": "hi"})),
    ("chat_completion", chose(message={"role": "assistant", "content": [{"type": "text", "text": "hi"}]})),
    ("chat_completion", {**COMPLETION, "usage": without(USAGE, "total_tokens")}),
    ("chat_completion", {**COMPLETION, "usage": {**USAGE, "total_tokens": -1}}),
    ("chat_completion", {"error": INNER}),
    ("chat_completion", []),
    *(("chat_completion_chunk", without(CHUNK, key)) for key in CHUNK),
    ("chat_completion_chunk", {**CHUNK, "object": "chat.completion"}),
    ("chat_completion_chunk", {**CHUNK, "choices": None}),
    ("chat_completion_chunk", {**CHUNK, "choices": [without(DELTA, "delta")]}),
    ("chat_completion_chunk", {**CHUNK, "choices": [without(DELTA, "index")]}),
    ("chat_completion_chunk", streamed(delta=None)),
    ("chat_completion_chunk", streamed(delta={"content": 1})),
    ("chat_completion_chunk", streamed(finish_reason=1)),
    ("chat_completion_chunk", {**CHUNK, "usage": {}}),
    ("chat_completion_chunk", {"error": INNER}),
    *(("error", {"error": without(INNER, key)}) for key in ("message", "type", "code")),
    *(("error", {"error": {**INNER, key: ""}}) for key in ("message", "type")),
    *(("error", {"error": {**INNER, key: None}}) for key in ("message", "type")),
    ("error", {"error": {**INNER, "code": 400}}),
    ("error", {"error": {**INNER, "param": 1}}),
    ("error", {"error": {}}),
    ("error", {"error": "no"}),
    ("error", {"detail": "no"}),
    ("error", INNER),
    *(("model_list", {"object": "list", "data": [without(MODEL, key)]}) for key in MODEL),
    ("model_list", {"object": "list"}),
    ("model_list", {"data": []}),
    ("model_list", {"object": "models", "data": []}),
    ("model_list", {"object": "list", "data": {"a": MODEL}}),
    ("model_list", {"object": "list", "data": ["a"]}),
    ("model_list", {"object": "list", "data": [{**MODEL, "id": ""}]}),
    ("model_list", {"object": "list", "data": [{**MODEL, "object": "agent"}]}),
    ("model_list", {"object": "list", "data": [{**MODEL, "created": "now"}]}),
    ("model_list", [MODEL]),
]


def faults(name: str, value: object) -> list[str]:
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8"))
    return [error.message for error in Draft202012Validator(schema).iter_errors(value)]


def said(target: str, body: dict[str, Any] | None = None, answer: Answer | None = None) -> bytes:
    request = Request("GET", target) if body is None else Request("POST", target, body=json.dumps(body).encode())
    plan = respond(request, MODELS, lambda _: answer or Answer())
    return b"".join(piece.data for piece in plan.pieces)


def completed(answer: Answer | None = None, **more: Any) -> bytes:
    body = {"model": "a", "messages": [{"role": "user", "content": "x"}], **more}
    return said("/v1/chat/completions", body, answer)


@pytest.mark.parametrize("path", sorted(SCHEMAS.glob("*.schema.json")), ids=lambda path: path.name)
def test_schema_is_a_valid_schema(path: Path) -> None:
    Draft202012Validator.check_schema(json.loads(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize(("name", "value"), GOOD)
def test_good_example_fits(name: str, value: object) -> None:
    assert faults(name, value) == []


@pytest.mark.parametrize(("name", "value"), BAD)
def test_bad_example_does_not_fit(name: str, value: object) -> None:
    assert faults(name, value) != []


def test_fake_model_list_fits() -> None:
    assert faults("model_list", json.loads(said("/v1/models"))) == []


@pytest.mark.parametrize("answer", [Answer(), Answer("", finish="length"), Answer("a", reasoning="b")], ids=repr)
def test_fake_completion_fits(answer: Answer) -> None:
    assert faults("chat_completion", json.loads(completed(answer))) == []


@pytest.mark.parametrize("answer", [Answer(), Answer("", finish=None), Answer("a", reasoning="b")], ids=repr)
def test_every_fake_chunk_fits(answer: Answer) -> None:
    *chunks, done = parse(completed(answer, stream=True, stream_options={"include_usage": True}))
    assert [faults("chat_completion_chunk", chunk.json()) for chunk in chunks] == [[]] * len(chunks)
    assert done.data == "[DONE]"


@pytest.mark.parametrize(
    "body",
    [
        said("/nowhere"),
        said("/v1/chat/completions", {}),
        completed(model="other"),
        completed(Answer(status=500, message="broken")),
        completed(Answer(status=429, message="slow down", headers=(("retry-after", "1"),))),
        parse(completed(Answer(fault="error_chunk", message="broken"), stream=True))[-2].data.encode(),
    ],
    ids=["route", "body", "model", "500", "429", "error chunk"],
)
def test_fake_refusal_fits(body: bytes) -> None:
    assert faults("error", json.loads(body)) == []


def test_fake_completion_without_a_finish_reason_does_not_fit() -> None:
    assert faults("chat_completion", json.loads(completed(Answer(finish=None)))) != []
