from __future__ import annotations

import json
from typing import Any

import pytest

from harness.fakes.opencode.answers import Refused
from harness.fakes.opencode.payload import NOTHING, check_prompt

TEXT = {"type": "text", "text": "x"}


@pytest.mark.parametrize(
    "body",
    [
        {"parts": []},
        {"parts": [TEXT], "nonsense": 1},
        {"parts": [TEXT], "model": None},
        {"parts": [{"type": "file", "mime": "text/plain", "url": "file:///x"}]},
    ],
)
def test_a_prompt_passes(body: dict[str, Any]) -> None:
    assert check_prompt(body) is body


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (NOTHING, "Expected object, got undefined"),
        (None, "Expected object, got null"),
        ([], "Expected object, got []"),
        ({"parts": [{"type": "text"}]}, 'Missing key\n  at ["parts"][0]["text"]'),
        ({"parts": [TEXT], "noReply": "yes"}, 'Expected boolean | null, got "yes"\n  at ["noReply"]'),
        ({"parts": [TEXT], "model": "a/b"}, 'Expected object | null, got "a/b"\n  at ["model"]'),
    ],
)
def test_what_is_no_prompt_is_refused_with_its_place(body: Any, message: str) -> None:
    with pytest.raises(Refused) as refused:
        check_prompt(body)
    told = json.loads(refused.value.answer.body)
    assert (refused.value.answer.status, told["data"]["message"]) == (400, message)
