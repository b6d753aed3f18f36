from __future__ import annotations

from typing import Any

import pytest

from harness.fakes.model.limits import Size, counted, cut, limit_of
from harness.fakes.model.script import Answer, ToolCall, Usage

LONG = Answer("one two three four", reasoning="let me see", tool_calls=(ToolCall("look"),))


@pytest.mark.parametrize(
    ("body", "limit"),
    [
        ({}, None),
        ({"max_tokens": 5}, 5),
        ({"max_completion_tokens": 6}, 6),
        ({"max_tokens": 5, "max_completion_tokens": 6}, 6),
        ({"max_tokens": None}, None),
        ({"max_tokens": True}, None),
        ({"max_tokens": "5"}, None),
    ],
)
def test_limit_is_the_first_that_is_a_number(body: dict[str, Any], limit: int | None) -> None:
    assert limit_of(body) == limit


@pytest.mark.parametrize(
    ("limit", "reasoning", "text"),
    [
        (0, "", ""),
        (2, "let me", ""),
        (3, "let me see", ""),
        (5, "let me see", "one two"),
    ],
)
def test_a_limit_cuts_reasoning_first_and_ends_with_length(limit: int, reasoning: str, text: str) -> None:
    came = cut(LONG, limit)
    assert (came.reasoning, came.text, came.tool_calls, came.finish) == (reasoning, text, (), "length")


@pytest.mark.parametrize("limit", [None, 8, 100])
def test_an_answer_within_the_limit_is_left_alone(limit: int | None) -> None:
    assert cut(LONG, limit) is LONG


def test_a_script_that_names_its_usage_is_believed() -> None:
    assert counted(Answer(usage=Usage(1, 2)), 9).usage == Usage(1, 2)


def test_usage_is_counted_with_reasoning_as_a_part_of_the_completion() -> None:
    assert counted(Answer("one two three four", reasoning="let me see"), 9).usage == Usage(9, 8, 3)


def test_what_must_fit_is_the_prompt_with_its_limit_or_with_one_token() -> None:
    assert (Size(100, 60, 30).total, Size(100, 60, None).total, Size(100, 60, 30).left) == (90, 61, 40)
