"""The official client takes every face for a server of its own kind."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from openai import BadRequestError, OpenAI
from openai.types.chat import ChatCompletionUserMessageParam

from harness.behind import ModelAlone, model_alone
from harness.engine import Engine
from harness.fakes.model.script import Answer, Rule, ToolCall
from harness.journal import Journal

FACES = ["openai", "gym", "proxy", "vllm-0.9.2", "vllm-0.12.0", "vllm-0.33"]
HELLO: ChatCompletionUserMessageParam = {"role": "user", "content": "hi"}
ANSWER = Answer("hello there", reasoning="hm", tool_calls=(ToolCall("look"),), finish="tool_calls")


@pytest.fixture(params=FACES)
def face(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def client(face: str, engine: Engine) -> Iterator[OpenAI]:
    with model_alone(engine, Journal(), ModelAlone(frozenset({"m"}), face=face, window=512)) as behind:
        behind.use_model_rules((Rule(None, (ANSWER,)),))
        with OpenAI(base_url=behind.model_url, api_key="any", max_retries=0) as made:
            yield made


def test_whole_and_streamed_answers_are_the_same_to_it(client: OpenAI) -> None:
    whole = client.chat.completions.create(model="m", messages=[HELLO])
    with client.chat.completions.stream(model="m", messages=[HELLO], stream_options={"include_usage": True}) as stream:
        pieces = stream.get_final_completion()
    said, joined = whole.choices[0].message, pieces.choices[0].message
    assert said.content == joined.content == ANSWER.text
    assert said.tool_calls is not None
    assert joined.tool_calls is not None
    assert said.tool_calls[0].id == joined.tool_calls[0].id
    assert whole.usage is not None
    assert pieces.usage is not None
    assert whole.usage.total_tokens == pieces.usage.total_tokens


def test_a_request_that_is_too_large_is_told_apart(client: OpenAI, face: str) -> None:
    too_large: ChatCompletionUserMessageParam = {"role": "user", "content": "hi " * 1000}
    if face == "gym":
        made = client.chat.completions.create(model="m", messages=[too_large])
        assert (made.choices[0].message.content, made.choices[0].finish_reason) == (None, "length")
    else:
        with pytest.raises(BadRequestError, match="context length"):
            client.chat.completions.create(model="m", messages=[too_large])
