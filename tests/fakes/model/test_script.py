from __future__ import annotations

import json
import random
from typing import Any

import pytest

from harness.fakes.model.script import SUMMARY, TITLE, Answer, Rule, Script, call_kind, messages_of, text_of
from tests.arbitrary import arbitrary

SUMS_UP = "You are a context summarization agent."
FIRST, SECOND = Answer("first"), Answer("second")


def prompt(text: Any, system: str | None = None, **more: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": text}]
    if system is not None:
        messages.insert(0, {"role": "system", "content": system})
    return {"model": "m", "messages": messages, **more}


def script(*rules: Rule) -> Script:
    script = Script()
    script.replace(rules)
    return script


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("plain", "plain"),
        ([{"type": "text", "text": "a"}, {"type": "image_url"}, {"type": "text", "text": "b"}, "no part"], "ab"),
        (None, ""),
        (5, ""),
    ],
    ids=repr,
)
def test_text_of_content(content: object, text: str) -> None:
    assert text_of(content) == text


def test_messages_have_role_and_text() -> None:
    assert messages_of(prompt("hello", "be kind")) == [("system", "be kind"), ("user", "hello")]


@pytest.mark.parametrize("body", [None, [], "x", {}, {"messages": {}}, {"messages": [1, "x"]}], ids=repr)
def test_body_without_messages_has_none(body: object) -> None:
    assert messages_of(body) == []


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (prompt("x"), "turn"),
        (prompt("x", "You are a title generator."), "title"),
        (prompt("x", "You are a context summarization agent."), "summary"),
        (prompt("Create a new anchored summary from the conversation history."), "summary"),
        (prompt("x", "Summarize what you did at the end."), "turn"),
        (prompt("x", "You are a title generator.", tools=[{"type": "function"}]), "turn"),
        (prompt("You are a title generator.", "You are an agent."), "turn"),
        (prompt("x", "You are a title generator.", tools=[]), "title"),
    ],
)
def test_kind_of_call_is_told_by_system_prompt_and_tools(body: dict[str, Any], kind: str) -> None:
    assert call_kind(body) == kind


def test_prompt_that_no_rule_knows_gets_ok() -> None:
    assert script(Rule("n1", (FIRST,))).choose(prompt("no nonce")) == Answer("ok")


def test_nonce_in_the_prompt_picks_the_rule() -> None:
    chosen = script(Rule("n1", (FIRST,)), Rule("n2", (SECOND,))).choose(prompt("say n2 please"))
    assert chosen == SECOND


def test_nonce_is_found_in_parts_and_in_earlier_messages() -> None:
    body = prompt([{"type": "text", "text": "n1"}])
    body["messages"].append({"role": "user", "content": "next"})
    assert script(Rule("n1", (FIRST,))).choose(body) == FIRST


def test_rule_without_a_nonce_answers_every_other_prompt() -> None:
    rules = script(Rule(None, (SECOND,)), Rule("n1", (FIRST,)))
    assert [rules.choose(prompt(text)) for text in ("n1", "other")] == [FIRST, SECOND]


def test_first_rule_that_fits_wins() -> None:
    assert script(Rule("n", (FIRST,)), Rule("n1", (SECOND,))).choose(prompt("n1")) == FIRST


def test_steps_come_in_order_and_the_last_is_repeated() -> None:
    rules = script(Rule("n1", (FIRST, SECOND)))
    assert [rules.choose(prompt("n1")) for _ in range(4)] == [FIRST, SECOND, SECOND, SECOND]


def test_rules_count_their_steps_apart() -> None:
    rules = script(Rule("n1", (FIRST, SECOND)), Rule("n2", (FIRST, SECOND)))
    assert [rules.choose(prompt(nonce)) for nonce in ("n1", "n2", "n1", "n2")] == [FIRST, FIRST, SECOND, SECOND]


def test_title_gets_a_title_and_consumes_no_step() -> None:
    rules = script(Rule("n1", (FIRST, SECOND)))
    calls = [prompt("n1", "You are a title generator"), prompt("n1"), prompt("n1", "You are a title generator")]
    assert [rules.choose(call) for call in [*calls, prompt("n1")]] == [TITLE, FIRST, TITLE, SECOND]


def test_summary_gets_the_rules_summary_and_consumes_no_step() -> None:
    summary = Answer("in short")
    rules = script(Rule("n1", (FIRST, SECOND), summary))
    calls = [prompt("n1", SUMS_UP), prompt("n1"), prompt("n1", SUMS_UP), prompt("n1")]
    assert [rules.choose(call) for call in calls] == [summary, FIRST, summary, SECOND]


def test_summary_is_the_usual_one_unless_told() -> None:
    assert script(Rule(None, (FIRST,))).choose(prompt("x", SUMS_UP)) == SUMMARY


def test_replaced_rules_begin_at_their_first_step() -> None:
    rules = script(Rule("n1", (FIRST, SECOND)))
    rules.choose(prompt("n1"))
    rules.replace([Rule("n1", (FIRST, SECOND))])
    assert rules.choose(prompt("n1")) == FIRST


def test_rule_is_recorded_as_json() -> None:
    rule = Rule("n1", (Answer("a", headers=(("retry-after", "1"),), fault="cut"),))
    value = rule.to_json()
    step = value["steps"][0]
    assert json.loads(json.dumps(value)) == value
    assert (value["nonce"], step["text"], step["headers"], step["fault"]) == ("n1", "a", [["retry-after", "1"]], "cut")


def test_rule_comes_back_from_its_json() -> None:
    chance = random.Random(1)
    for _ in range(500):
        rule: Rule = arbitrary(Rule, chance)
        again = Rule.from_json(json.loads(json.dumps(rule.to_json())))
        assert again == rule
        assert hash(again) == hash(rule)
