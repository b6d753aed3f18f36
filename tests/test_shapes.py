from __future__ import annotations

from typing import Any

import pytest

from harness.shapes import Shape, flaw

CHOICE = {"index": 0, "message": {"role": "assistant", "content": "x"}, "finish_reason": "stop"}
COMPLETION = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [CHOICE]}
DELTA = {"index": 0, "delta": {}, "finish_reason": None}
CHUNK = {**COMPLETION, "object": "chat.completion.chunk", "choices": [DELTA]}
ERROR = {"error": {"message": "no", "type": "invalid_request_error", "code": None, "param": None}}
LIST = {"object": "list", "data": [{"id": "a", "object": "model", "created": 0, "owned_by": "o"}]}


@pytest.mark.parametrize(
    ("shape", "value"),
    [
        ("chat_completion", COMPLETION),
        ("chat_completion_chunk", CHUNK),
        ("chat_completion_chunk", {**CHUNK, "choices": []}),
        ("error", ERROR),
        ("model_list", LIST),
        ("model_list", {**LIST, "data": []}),
    ],
)
def test_what_the_api_says_has_no_flaw(shape: Shape, value: Any) -> None:
    assert flaw(shape, value) is None


@pytest.mark.parametrize("shape", ["chat_completion", "chat_completion_chunk", "error", "model_list"])
@pytest.mark.parametrize("value", [None, [], "x", {}, 1])
def test_what_is_no_such_object_has_a_flaw(shape: Shape, value: Any) -> None:
    assert flaw(shape, value)


def test_flaw_is_named_with_its_place() -> None:
    assert flaw("chat_completion", {**COMPLETION, "created": "now"}) == "'now' is not of type 'integer' (at $.created)"
