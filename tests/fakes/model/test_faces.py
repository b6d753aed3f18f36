from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from harness.errors import UsageError
from harness.exchange import Request
from harness.fakes.model.face import PLAIN, Face
from harness.fakes.model.faces import answered, face_named
from harness.fakes.model.limits import Size
from harness.fakes.model.script import Answer
from harness.fakes.model.tokens import pieces, prompt_text, token_ids
from harness.fakes.plan import Plan
from harness.sse import parse

MESSAGES = [{"role": "user", "content": "hello there"}]
PROMPT = len(pieces(prompt_text({"messages": MESSAGES})))
MODELS = frozenset({"a/b", "m"})
WORDS = Answer("one two three four five six seven eight nine ten")


def ask(face: Face, answer: Answer = WORDS, key: str | None = None, **body: Any) -> Plan:
    headers = (("authorization", f"Bearer {key}"),) if key else ()
    data = json.dumps({"model": "m", "messages": MESSAGES, **body}).encode()
    return answered(face, Request("POST", "/v1/chat/completions", headers, data), MODELS, lambda _: answer)


def body_of(plan: Plan) -> Any:
    return json.loads(b"".join(piece.data for piece in plan.pieces))


def said(plan: Plan) -> tuple[str | None, str]:
    choice = body_of(plan)["choices"][0]
    return choice["message"]["content"], choice["finish_reason"]


def events(plan: Plan) -> list[Any]:
    return [event.json() or event.data for event in parse(b"".join(piece.data for piece in plan.pieces))]


@pytest.mark.parametrize("name", ["", "other", "vllm", "vllm-", "vllm-new"])
def test_an_unknown_face_is_refused(name: str) -> None:
    with pytest.raises(UsageError):
        face_named(name)


def test_the_plain_face_looks_at_no_limit() -> None:
    assert face_named("plain") is PLAIN
    assert said(ask(PLAIN, max_tokens=1)) == (WORDS.text, "stop")


@pytest.mark.parametrize("name", ["openai", "gym", "proxy", "vllm-0.9.2", "vllm-0.33"])
@pytest.mark.parametrize("field", ["max_tokens", "max_completion_tokens"])
def test_both_limits_are_obeyed(name: str, field: str) -> None:
    limit: dict[str, Any] = {field: 2}
    plan = ask(face_named(name), **limit)
    assert said(plan) == ("one two", "length")
    assert body_of(plan)["usage"] == {
        "prompt_tokens": PROMPT,
        "completion_tokens": 2,
        "total_tokens": PROMPT + 2,
        "completion_tokens_details": {"reasoning_tokens": 0},
    }


@pytest.mark.parametrize(("limit", "status"), [(50, 200), (51, 400)])
@pytest.mark.parametrize("name", ["openai", "proxy", "vllm-0.9.2", "vllm-0.31"])
def test_one_token_over_the_window_is_refused(name: str, limit: int, status: int) -> None:
    assert ask(face_named(name, PROMPT + 50), max_tokens=limit).status == status


def test_a_limit_is_cut_to_what_is_left_of_the_window() -> None:
    assert said(ask(face_named("vllm-0.33", PROMPT + 2), max_tokens=5)) == ("one two", "length")


def test_without_a_limit_an_answer_ends_with_the_window() -> None:
    assert said(ask(face_named("openai", PROMPT + 2))) == ("one two", "length")


def test_a_prompt_over_the_window_is_refused_where_limits_are_cut_too() -> None:
    assert ask(face_named("vllm-0.33", PROMPT - 1), max_tokens=1).status == 400


def test_a_gym_answers_empty_what_its_upstream_refuses_for_its_size() -> None:
    assert said(ask(face_named("gym", PROMPT), max_tokens=5)) == (None, "length")


FAILURES = [Answer(status=400, message="no such tool"), Answer(status=503), Answer(fault="cut")]


@pytest.mark.parametrize("answer", FAILURES)
def test_a_gym_makes_a_500_of_every_other_failure(answer: Answer) -> None:
    assert ask(face_named("gym"), answer).status == 500


def test_a_gym_that_hears_nothing_says_nothing() -> None:
    assert ask(face_named("gym"), Answer(fault="hang")).status is None


def test_a_gym_keeps_the_gate_of_an_answer() -> None:
    assert ask(face_named("gym"), Answer(gate="wait"), stream=True).gate == "wait"


def test_a_gym_replays_a_whole_answer_as_a_stream() -> None:
    options: dict[str, Any] = {"stream": True, "stream_options": {"include_usage": True}}
    plan = ask(face_named("gym"), replace(WORDS, reasoning="hm"), **options)
    *chunks, done = events(plan)
    assert done == "[DONE]"
    assert [chunk["choices"][0]["delta"] for chunk in chunks if chunk["choices"]] == [
        {"role": "assistant"},
        {"reasoning_content": "hm"},
        {"content": WORDS.text},
        {},
    ]
    assert chunks[-1]["usage"]["prompt_tokens"] == PROMPT


def test_a_gym_has_no_list_of_models_and_takes_any_model() -> None:
    gym = face_named("gym")
    assert answered(gym, Request("GET", "/v1/models"), MODELS, lambda _: WORDS).status == 404
    assert ask(gym, model="whatever").status == 200


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("openai", {"reasoning_content"}),
        ("gym", {"reasoning_content"}),
        ("vllm-0.9.2", {"reasoning_content"}),
        ("vllm-0.12.0", {"reasoning_content", "reasoning"}),
        ("vllm-0.31", {"reasoning"}),
    ],
)
def test_reasoning_is_in_the_fields_of_the_face(name: str, fields: set[str]) -> None:
    message = body_of(ask(face_named(name), replace(WORDS, reasoning="hm")))["choices"][0]["message"]
    assert {field for field, value in message.items() if value == "hm"} == fields


def test_token_ids_are_those_of_prompt_and_answer() -> None:
    message = body_of(ask(face_named("openai")))["choices"][0]["message"]
    assert message["prompt_token_ids"] == token_ids(prompt_text({"messages": MESSAGES}))
    assert message["generation_token_ids"] == token_ids(WORDS.text)
    assert len(message["generation_log_probs"]) == len(message["generation_token_ids"])


KEYS = {"wide": MODELS, "narrow": frozenset({"m"})}


@pytest.mark.parametrize(
    ("name", "key", "model", "status"),
    [
        ("openai", "wide", "a/b", 200),
        ("openai", "narrow", "m", 200),
        ("openai", "narrow", "a/b", 404),
        ("openai", "nobody", "m", 401),
        ("openai", None, "m", 401),
        ("proxy", "narrow", "a/b", 403),
        ("proxy", "wide", "none", 400),
        ("proxy", None, "m", 401),
    ],
)
def test_a_key_opens_its_own_models(name: str, key: str | None, model: str, status: int) -> None:
    assert ask(replace(face_named(name), keys=KEYS), key=key, model=model).status == status


def test_a_key_is_listed_its_own_models() -> None:
    face = replace(face_named("proxy"), keys=KEYS)
    request = Request("GET", "/v1/models", (("Authorization", "Bearer narrow"),))
    assert [model["id"] for model in body_of(answered(face, request, MODELS, lambda _: WORDS))["data"]] == ["m"]


def test_a_proxy_refuses_in_the_words_of_litellm() -> None:
    error = body_of(ask(face_named("proxy", PROMPT), max_tokens=5))["error"]
    assert error["message"].startswith("litellm.ContextWindowExceededError: ")
    assert error["code"] == "400"


def test_what_a_face_says_can_be_changed() -> None:
    face = replace(PLAIN, says=lambda _request, plan: replace(plan, status=201))
    assert ask(face).status == 201


def test_a_size_is_told_to_what_refuses() -> None:
    face = replace(face_named("openai", 7), over_window=lambda size: f"{size == Size(7, PROMPT, 9)}")
    assert body_of(ask(face, max_tokens=9))["error"]["message"] == "True"
