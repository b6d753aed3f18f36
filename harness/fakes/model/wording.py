"""In which words, and in which envelope, model servers refuse: OpenAI's, vLLM's by version, LiteLLM's.

What versions of vLLM say was read in their source distributions, what LiteLLM says was seen at its proxy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from harness.errors import UsageError
from harness.fakes.model.limits import Size

OverWindow = Callable[[Size], str]


@dataclass(frozen=True)
class Refusal:
    """A refusal without its envelope."""

    status: int
    message: str
    type: str
    param: str | None = None
    code: str | None = None


Envelope = Callable[[Refusal], Any]


def nested(refusal: Refusal) -> Any:
    """OpenAI's envelope."""
    error = {"message": refusal.message, "type": refusal.type, "param": refusal.param, "code": refusal.code}
    return {"error": error}


def vllm_flat(refusal: Refusal) -> Any:
    """vLLM's envelope up to 0.10.0."""
    return {
        "object": "error",
        "message": refusal.message,
        "type": _vllm_type(refusal),
        "param": refusal.param,
        "code": refusal.status,
    }


def vllm_nested(refusal: Refusal) -> Any:
    """vLLM's envelope from 0.10.2 on: its code is the status, a number."""
    error = {"message": refusal.message, "type": _vllm_type(refusal), "param": refusal.param, "code": refusal.status}
    return {"error": error}


def litellm(refusal: Refusal) -> Any:
    """LiteLLM's envelope: its code is the status, as a string, and only refusals of its own name a parameter."""
    param = refusal.param if refusal.param in ("key", "model") else None
    return nested(Refusal(refusal.status, refusal.message, refusal.type, param, str(refusal.status)))


def _vllm_type(refusal: Refusal) -> str:
    return {400: "BadRequestError", 401: "AuthenticationError", 404: "NotFoundError"}.get(
        refusal.status, "InternalServerError"
    )


def openai_unknown_model(model: object) -> Refusal:
    """What is said of a model that is not served, or not to the key at hand."""
    message = f"the model {model!r} does not exist"
    return Refusal(404, message, "invalid_request_error", code="model_not_found")


def litellm_unknown_model(model: object) -> Refusal:
    """What LiteLLM says of a model that no key may use."""
    message = (
        f"/chat/completions: Invalid model name passed in model={model}. Call `/v1/models` to view available models"
    )
    return Refusal(400, f"{message} for your key.", "invalid_request_error")


def litellm_foreign_model(model: object) -> Refusal:
    """What LiteLLM says of a model that the key at hand may not use."""
    message = (
        f"The requested model '{model}' is not available for this API key, or the model name is invalid. "
        "Check the models available to you and try again."
    )
    return Refusal(403, message, "key_model_access_denied", "model")


OPENAI_UNKNOWN_KEY = Refusal(401, "Incorrect API key provided.", "invalid_request_error", code="invalid_api_key")
LITELLM_UNKNOWN_KEY = Refusal(
    401, "Authentication Error, Invalid proxy server token passed", "token_not_found_in_db", "key"
)


def openai_over_window(size: Size) -> str:
    """OpenAI's sentence."""
    beginning = f"This model's maximum context length is {size.window} tokens. However, "
    if size.limit is None:
        asked = f"your messages resulted in {size.prompt} tokens."
    else:
        asked = f"you requested {size.total} tokens ({size.prompt} in the messages, {size.limit} in the completion)."
    return f"{beginning}{asked} Please reduce the length of the messages or completion."


def litellm_over_window(size: Size) -> str:
    """What LiteLLM's proxy makes of it."""
    errors = "litellm.ContextWindowExceededError: litellm.BadRequestError: ContextWindowExceededError: OpenAIException"
    return f"{errors} - {openai_over_window(size)}"


def _in_messages_and_completion(size: Size) -> str:
    beginning = f"This model's maximum context length is {size.window} tokens. However, you requested"
    if size.limit is None:
        return f"{beginning} {size.prompt} tokens in the messages, Please reduce the length of the messages."
    return (
        f"{beginning} {size.total} tokens ({size.prompt} in the messages, {size.limit} in the completion). "
        "Please reduce the length of the messages or completion."
    )


def _limit_too_large(size: Size) -> str:
    window = f"This model's maximum context length is {size.window} tokens"
    if size.limit is None or size.left <= 0:
        return (
            f"{window}. However, your request has {size.prompt} input tokens. "
            "Please reduce the length of the input messages."
        )
    return (
        f"'max_tokens' or 'max_completion_tokens' is too large: {size.limit}. {window} and your request has "
        f"{size.prompt} input tokens ({size.limit} > {size.window} - {size.prompt})."
    )


def _maximum_input_length(size: Size) -> str:
    output = size.limit or 0
    return (
        f"You passed {size.prompt} input tokens and requested {output} output tokens. However, the model's context "
        f"length is only {size.window} tokens, resulting in a maximum input length of {size.window - output} tokens. "
        "Please reduce the length of the input prompt."
    )


def _total_of_output_and_prompt(size: Size) -> str:
    output = size.limit or 0
    return (
        f"This model's maximum context length is {size.window} tokens. However, you requested {output} output tokens "
        f"and your prompt contains {size.prompt} input tokens, for a total of {size.prompt + output} tokens. "
        "Please reduce the length of the input prompt or the number of requested output tokens."
    )


def _even_without_output(size: Size) -> str:
    if size.limit is not None and size.limit > size.window:
        return f"max_tokens={size.limit} cannot be greater than max_model_len={size.window}."
    return (
        f"This model's maximum context length is {size.window} tokens. However, your prompt contains {size.prompt} "
        "input tokens, which exceeds this limit even without any output tokens."
    )


@dataclass(frozen=True)
class VllmProfile:
    """What the versions from `first` to `last` do; `clamps` tells that a limit is cut to what is left of the window."""

    first: str
    last: str | None
    over_window: OverWindow
    envelope: Envelope
    reasoning_fields: tuple[str, ...]
    clamps: bool = False


_OLD, _NEW = ("reasoning_content",), ("reasoning",)

VLLM = (
    VllmProfile("0.4.3", "0.10.0", _in_messages_and_completion, vllm_flat, _OLD),
    VllmProfile("0.10.2", "0.11.1", _limit_too_large, vllm_nested, _OLD),
    VllmProfile("0.11.2", "0.14.1", _limit_too_large, vllm_nested, _OLD + _NEW),
    VllmProfile("0.16", "0.17.1", _maximum_input_length, vllm_nested, _NEW),
    VllmProfile("0.18.1", "0.31", _total_of_output_and_prompt, vllm_nested, _NEW),
    VllmProfile("0.33", None, _even_without_output, vllm_nested, _NEW, clamps=True),
)
"""What was read, from the oldest on. A version between two rows was not looked at."""


def vllm_profile(version: str) -> VllmProfile:
    """What vLLM of that version does; raises UsageError for a version that was not looked at."""
    number = _number(version)
    for profile in VLLM:
        # A last version without a patch level stands for all of its patches.
        within = profile.last is None or number[: len(_number(profile.last))] <= _number(profile.last)
        if number >= _number(profile.first) and within:
            return profile
    known = ", ".join(f"{profile.first} to {profile.last}" if profile.last else profile.first for profile in VLLM)
    raise UsageError(f"what vLLM {version!r} does is not known", f"known are {known} and later")


def _number(version: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in version.split("."))
    except ValueError:
        raise UsageError(f"{version!r} is not a version of vLLM", "write it like vllm-0.10.0") from None
