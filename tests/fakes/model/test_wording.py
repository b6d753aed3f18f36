from __future__ import annotations

import pytest

from harness.errors import UsageError
from harness.fakes.model.limits import Size
from harness.fakes.model.wording import (
    VLLM,
    Refusal,
    VllmProfile,
    litellm,
    nested,
    vllm_flat,
    vllm_nested,
    vllm_profile,
)

BOTH, PROMPT = Size(100, 60, 50), Size(100, 120, None)

SENTENCES = {
    "0.9.2": (
        "This model's maximum context length is 100 tokens. However, you requested 110 tokens (60 in the messages, 50 "
        "in the completion). Please reduce the length of the messages or completion."
    ),
    "0.12.0": (
        "'max_tokens' or 'max_completion_tokens' is too large: 50. This model's maximum context length is 100 tokens "
        "and your request has 60 input tokens (50 > 100 - 60)."
    ),
    "0.16.0": (
        "You passed 60 input tokens and requested 50 output tokens. However, the model's context length is only 100 "
        "tokens, resulting in a maximum input length of 50 tokens. Please reduce the length of the input prompt."
    ),
    "0.31.4": (
        "This model's maximum context length is 100 tokens. However, you requested 50 output tokens and your prompt "
        "contains 60 input tokens, for a total of 110 tokens. Please reduce the length of the input prompt or the "
        "number of requested output tokens."
    ),
}


@pytest.mark.parametrize("version", SENTENCES)
def test_a_version_of_vllm_refuses_in_its_own_words(version: str) -> None:
    assert vllm_profile(version).over_window(BOTH) == SENTENCES[version]


@pytest.mark.parametrize("profile", VLLM, ids=lambda profile: profile.first)
@pytest.mark.parametrize("size", [BOTH, PROMPT], ids=["limit", "prompt"])
def test_every_version_names_the_context_length(profile: VllmProfile, size: Size) -> None:
    assert "context length" in profile.over_window(size)


def test_a_limit_that_is_larger_than_the_window_is_named_where_limits_are_cut() -> None:
    said = vllm_profile("0.33.1").over_window(Size(100, 5, 101))
    assert said == "max_tokens=101 cannot be greater than max_model_len=100."


@pytest.mark.parametrize(
    ("version", "fields", "clamps", "envelope"),
    [
        ("0.10.0", ("reasoning_content",), False, vllm_flat),
        ("0.10.2", ("reasoning_content",), False, vllm_nested),
        ("0.11.2", ("reasoning_content", "reasoning"), False, vllm_nested),
        ("0.14.1", ("reasoning_content", "reasoning"), False, vllm_nested),
        ("0.17.1", ("reasoning",), False, vllm_nested),
        ("0.31.9", ("reasoning",), False, vllm_nested),
        ("0.33", ("reasoning",), True, vllm_nested),
        ("1.2", ("reasoning",), True, vllm_nested),
    ],
)
def test_a_version_has_its_ways(version: str, fields: tuple[str, ...], clamps: bool, envelope: object) -> None:
    profile = vllm_profile(version)
    assert (profile.reasoning_fields, profile.clamps, profile.envelope) == (fields, clamps, envelope)


@pytest.mark.parametrize("version", ["0.4.2", "0.10.1", "0.15.0", "0.32", "new", ""])
def test_a_version_that_was_not_looked_at_is_refused(version: str) -> None:
    with pytest.raises(UsageError):
        vllm_profile(version)


def test_envelopes_differ_in_shape_and_code() -> None:
    refusal = Refusal(400, "no", "invalid_request_error", "messages", "context_length_exceeded")
    assert nested(refusal)["error"]["code"] == "context_length_exceeded"
    assert vllm_flat(refusal) == {
        "object": "error",
        "message": "no",
        "type": "BadRequestError",
        "param": "messages",
        "code": 400,
    }
    assert vllm_nested(refusal)["error"]["code"] == 400
    assert litellm(refusal)["error"] == {"message": "no", "type": refusal.type, "param": None, "code": "400"}
