from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.exchange import Chunk, Request
from harness.fakes.model.captures import Captures, parted, record
from harness.fakes.plan import Plan

CHAT = "/v1/chat/completions"
STREAM = (("content-type", "text/event-stream; charset=utf-8"),)


@pytest.mark.parametrize(
    ("target", "rollout", "rest"),
    [
        (f"/ng-rollout/a.B_1-x{CHAT}", "a.B_1-x", CHAT),
        ("/ng-rollout/a/v1/models?limit=1", "a", "/v1/models?limit=1"),
        (CHAT, None, CHAT),
        ("/ng-rollout/.a/v1/models", None, "/ng-rollout/.a/v1/models"),
        ("/ng-rollout/a%2Fb/v1/models", None, "/ng-rollout/a%2Fb/v1/models"),
        ("/ng-rollout/a", None, "/ng-rollout/a"),
    ],
)
def test_the_prefix_names_the_rollout(target: str, rollout: str | None, rest: str) -> None:
    assert parted(Request("POST", target)) == (rollout, Request("POST", rest))


def kept(plan: Plan, path: str = CHAT, method: str = "POST") -> dict[str, Any] | None:
    return record(Request(method, path, body=b'{"model": "m"}'), plan)


def test_what_is_kept_is_request_and_answer() -> None:
    found = kept(Plan(200, pieces=(Chunk(0, b'{"id"'), Chunk(0, b': "c"}'))))
    assert found is not None
    assert (found["request"], found["response"], found["status_code"]) == ({"model": "m"}, {"id": "c"}, 200)
    assert (found["dialect"], found["error_category"]) == ("chat", None)
    assert "response_raw" not in found


def test_of_a_stream_both_the_whole_and_the_raw_are_kept() -> None:
    raw = b'data: {"choices": [{"delta": {"content": "hi"}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'
    found = kept(Plan(200, STREAM, (Chunk(0, raw),), stream=True))
    assert found is not None
    assert found["response"]["choices"][0]["message"]["content"] == "hi"
    assert found["response_raw"] == raw.decode()


@pytest.mark.parametrize(
    ("plan", "category"),
    [
        (Plan(400), "client_error"),
        (Plan(401), "auth"),
        (Plan(404), "not_found"),
        (Plan(429), "rate_limit"),
        (Plan(500), "upstream_error"),
        (Plan(200, pieces=(Chunk(0, b'{"id": "chtcmpl-123"}'),)), "context_length_exceeded"),
        (Plan(200, STREAM, ending="cut", stream=True), "stream_truncated"),
    ],
)
def test_a_failure_has_its_category(plan: Plan, category: str) -> None:
    found = kept(plan)
    assert found is not None
    assert found["error_category"] == category


@pytest.mark.parametrize(("path", "method"), [("/v1/models", "GET"), (CHAT, "GET"), ("/v1/other", "POST")])
def test_what_is_no_call_of_the_model_is_not_kept(path: str, method: str) -> None:
    assert kept(Plan(200), path, method) is None


def test_each_call_is_a_line_of_its_rollouts_file(tmp_path: Path) -> None:
    captures = Captures(tmp_path / "captures")
    for rollout, number in (("a", 1), ("a.b", 2), ("a", 3)):
        captures.keep(rollout, {"number": number, "text": "\u2028\n"})
    files = {path.name: path.read_text(encoding="utf-8") for path in captures.folder.iterdir()}
    assert {
        name: [json.loads(line)["number"] for line in text.split("\n") if line] for name, text in files.items()
    } == {
        "a.capture.jsonl": [1, 3],
        "a.b.capture.jsonl": [2],
    }
