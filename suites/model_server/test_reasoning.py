"""Where reasoning is given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.check import NotMeasured, expect
from harness.exchange import Exchange
from harness.expectations import expect_said
from harness.fakes.model.script import Answer
from harness.model_calls import expect_answered, given_in
from harness.target import Facts
from harness.telling import beginning

FIELDS = {"reasoning_content": ("reasoning_content",), "reasoning": ("reasoning",)}
BOTH = ("reasoning_content", "reasoning")


@pytest.mark.requirement("MS-REASON-1")
@pytest.mark.parametrize("fields", [{}, {"stream": True}], ids=["json", "stream"])
def test_reasoning_is_in_the_declared_field(
    asking: Callable[..., Exchange], nonce: Callable[[str], str], target: Facts, fields: dict[str, Any]
) -> None:
    """It is whole there, and the content is free of it."""
    if target.reasoning_field is None:
        raise NotMeasured("the target file does not say where reasoning is given (reasoning_field)")
    thought = f"First I think of {nonce('thought')}, then of nothing."
    reply = asking("reasoned", Answer(text=f"So: {nonce('said')}", reasoning=thought), **fields)
    content = expect_answered(reply, "an answer with reasoning")
    expect_said(content, nonce("said"), reply)
    mend = f"give reasoning in {target.reasoning_field}, and nowhere else"
    expect(nonce("thought") not in content, "content without reasoning", beginning(content), mend, reply)
    for field in FIELDS.get(target.reasoning_field, BOTH):
        came = given_in(reply, field)
        expect(came == thought, f"{thought!r} in {field}", repr(came), mend, reply)
