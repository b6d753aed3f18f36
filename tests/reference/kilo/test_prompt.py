from __future__ import annotations

from typing import Any

import pytest

from harness.reference.kilo.prompt import Said, read_request, render
from harness.reference.kilo.refusal import Refusal


def asked(body: Any, system: str | None = None) -> str:
    return render(system, read_request(body))


def test_a_single_message_of_the_user_is_passed_on_as_it_is() -> None:
    assert asked({"input": " -x\n"}) == " -x\n"
    assert asked({"input": [{"role": "user", "content": [{"type": "input_text", "text": "a"}]}]}) == "a"


def test_everything_else_becomes_a_transcript() -> None:
    body = {
        "instructions": "be brief",
        "input": [
            {"role": "user", "content": "a"},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "b"}]},
            {"type": "function_call", "name": "ls", "arguments": "{}", "call_id": "1"},
            {"type": "function_call_output", "call_id": "1", "output": "file"},
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
            {"role": "user", "content": "c"},
        ],
    }
    assert asked(body, "system") == (
        "System: system\n\nSystem: be brief\n\nUser: a\n\nAssistant: b\n\nAssistant: (called ls with {})\n\n"
        "Tool: file\n\nAssistant: (thought: hm)\n\nUser: c"
    )


def test_a_system_prompt_alone_makes_a_transcript_too() -> None:
    assert render("s", [Said("User", "u")]) == "System: s\n\nUser: u"


@pytest.mark.parametrize(
    "body",
    [
        7,
        {},
        {"input": []},
        {"input": 7},
        {"input": [7]},
        {"input": "a", "stream": True},
        {"input": "a", "previous_response_id": "resp_1"},
        {"input": "a", "instructions": 7},
        {"input": [{"role": "assistant", "content": "a"}]},
        {"input": [{"role": "critic", "content": "a"}]},
        {"input": [{"role": ["user"], "content": "a"}]},
        {"input": [{"role": "user", "content": "a"}, {"type": "reasoning", "summary": 7}]},
        {"input": [{"type": "item_reference", "id": "x"}]},
        {"input": [{"role": "user", "content": 7}]},
        {"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "x"}]}]},
    ],
)
def test_what_cannot_be_passed_on_is_refused(body: Any) -> None:
    with pytest.raises(Refusal) as caught:
        read_request(body)
    assert caught.value.status == 400
