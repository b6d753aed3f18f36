from __future__ import annotations

import json
from typing import Any

import pytest

from harness.check import Nonconformance
from harness.exchange import Chunk, Exchange, Request
from harness.kilo_agent_actors import Run
from harness.kilo_answers import expect_answered, expect_failure, is_finished, items_of, outcome_of, text_in, text_of

MESSAGE = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "word"}]}


def answer(body: Any, status: int = 200) -> Exchange:
    data = json.dumps(body).encode()
    return Exchange(1, "client", Request("POST", "/"), 0.0, status=status, chunks=(Chunk(0.0, data),), end="complete")


def test_a_response_is_found_in_a_rollouts_answer_too() -> None:
    for body in ({"output": [MESSAGE]}, {"reward": 1, "response": {"output": [MESSAGE]}}):
        assert text_of(answer(body)) == "word"


@pytest.mark.parametrize("body", [None, [], {}, {"output": 7}, {"output": [7]}, {"response": 7}])
def test_what_is_no_response_has_no_items(body: Any) -> None:
    assert items_of(answer(body)) == []


def test_texts_are_read_wherever_an_item_has_them() -> None:
    assert text_in({"summary": [{"text": "a"}], "content": [{"text": "b"}]}) == "ab"
    assert text_in({"output": "c"}) == text_in({"output": [{"text": "c"}]}) == "c"


@pytest.mark.parametrize(
    ("body", "status", "finished"),
    [
        ({"status": "completed"}, 200, True),
        ({}, 200, True),
        ({"status": "completed", "error": {"message": "x"}}, 200, False),
        ({"status": "failed"}, 200, False),
        ({"status": "incomplete"}, 200, False),
        ({"error": {"message": "x"}}, 502, False),
    ],
)
def test_a_run_is_finished_when_nothing_says_otherwise(body: Any, status: int, finished: bool) -> None:
    assert is_finished(answer(body, status)) is finished


def test_outcomes_differ_by_more_than_ids() -> None:
    first, second = ({"status": "failed", "error": {"message": f"no: {word}"}} for word in ("req 1", "req 2"))
    assert outcome_of(answer(first)) == outcome_of(answer(second))
    assert outcome_of(answer(first)) != outcome_of(answer({**first, "error": {"message": "other"}}))


def test_an_echo_of_the_word_is_no_answer() -> None:
    with pytest.raises(Nonconformance):
        expect_answered(answer({"input": "word"}), "word", "a turn")
    expect_answered(answer({"status": "completed", "output": [MESSAGE]}), "word", "a turn")


@pytest.mark.parametrize(
    ("body", "status", "log"),
    [
        ({"status": "failed", "error": {"message": "why"}}, 200, ""),
        ({"error": {"message": "why"}}, 502, ""),
        ({"detail": "why"}, 500, ""),
        ({"status": "failed"}, 200, "why"),
    ],
)
def test_a_failure_says_why(body: Any, status: int, log: str) -> None:
    expect_failure(answer(body, status), log, "a run")


@pytest.mark.parametrize(("body", "status"), [({"status": "completed"}, 200), ({}, 500), ({"error": {}}, 500)])
def test_success_or_silence_is_no_failure(body: Any, status: int) -> None:
    with pytest.raises(Nonconformance):
        expect_failure(
            answer(body, status), ' \nINFO: 127.0.0.1 - "POST /run HTTP/1.1" 500 Internal Server Error\n', "a run"
        )


def test_a_run_tells_its_arguments_apart() -> None:
    argv = ("run", "--format=json", "-m", "nemo/a", "--dir", "/w", "--", "--dir", "x")
    files = ({"path": "/w/kilo.json", "mode": 0o600, "text": '{"a": 1}'},)
    run = Run(argv, "/elsewhere", {}, "null", files, 0)
    assert (run.option("-m", "--model"), run.option("--format"), run.option("--title")) == ("nemo/a", "json", None)
    assert (run.folder, run.prompt, run.settings) == ("/w", "--dir x", {"a": 1})
    assert (Run(("run",), "/w", {}, "null", (), 0).folder, Run(("run",), "/w", {}, "null", (), 0).prompt) == (
        "/w",
        None,
    )
