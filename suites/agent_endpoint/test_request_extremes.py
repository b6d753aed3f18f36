"""Bodies that nobody writes by hand."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from harness.actors import Client
from harness.chat import PATH
from harness.check import expect
from harness.exchange import Exchange, Request
from harness.expectations import expect_completion, expect_refusal, shown
from harness.target import Agent
from harness.target_keys import KeyFacts

MEND = "bound what you read, and answer what you cannot take with a 4xx in the error envelope"

LONG = 150_000
"""Characters of a message: more than fits into an argument of a command."""

HUGE = 1_100_000
"""Characters of a body: more than the limit of common frameworks."""

DEEP = 100_000
"""Levels: more than a recursive parser can go down."""


def huge_content(model: str, word: str) -> str:
    """A very long user message."""
    return f'{{"model": {model}, "messages": [{{"role": "user", "content": "{word} {"long " * (LONG // 5)}"}}]}}'


def huge_field(model: str, word: str) -> str:
    """A very long string where nobody looks."""
    return f'{{"model": {model}, "messages": [{user(word)}], "metadata": {{"a": "{"x" * HUGE}"}}}}'


def huge_model(_model: str, word: str) -> str:
    """A very long model id."""
    return f'{{"model": "{"m" * HUGE}", "messages": [{user(word)}]}}'


def deep_lists(model: str, word: str) -> str:
    """Lists in lists, in a field that is not known."""
    return f'{{"model": {model}, "messages": [{user(word)}], "x": {"[" * DEEP}{"]" * DEEP}}}'


def deep_objects(model: str, word: str) -> str:
    """Objects in objects, as the content."""
    inner = '{"a":' * DEEP + "1" + "}" * DEEP
    return f'{{"model": {model}, "messages": [{{"role": "user", "content": {inner}}}, {user(word)}]}}'


def never_closed(model: str, _word: str) -> str:
    """Lists in lists, none of which ends."""
    return f'{{"model": {model}, "messages": {"[" * DEEP}'


def surrogate_in_content(model: str, word: str) -> str:
    """Half of a character in the user's message."""
    return f'{{"model": {model}, "messages": [{{"role": "user", "content": "{word} \\ud83d"}}]}}'


def surrogate_in_part(model: str, word: str) -> str:
    """The other half of a character in a text part."""
    part = f'{{"type": "text", "text": "\\udc00 {word}"}}'
    return f'{{"model": {model}, "messages": [{{"role": "user", "content": [{part}]}}]}}'


def surrogate_in_model(_model: str, word: str) -> str:
    """Half of a character in the model id."""
    return f'{{"model": "\\ud800", "messages": [{user(word)}]}}'


def surrogate_in_key(model: str, word: str) -> str:
    """Half of a character in a field's name."""
    return f'{{"model": {model}, "messages": [{user(word)}], "\\udfff": 1}}'


def zero_in_content(model: str, word: str) -> str:
    """A NUL character in the user's message."""
    return f'{{"model": {model}, "messages": [{{"role": "user", "content": "{word}\\u0000"}}]}}'


def same_key_twice(model: str, word: str) -> str:
    """Two models and two lists of messages."""
    return f'{{"model": 1, "model": {model}, "messages": [], "messages": [{user(word)}]}}'


def huge_number(model: str, word: str) -> str:
    """A number that no machine type holds."""
    return f'{{"model": {model}, "messages": [{user(word)}], "max_tokens": 1{"0" * 5000}}}'


def no_number(model: str, word: str) -> str:
    """What JSON has no word for, but some parsers do."""
    return f'{{"model": {model}, "messages": [{user(word)}], "temperature": NaN, "top_p": -Infinity}}'


def user(word: str) -> str:
    """A plain user message as JSON."""
    return json.dumps({"role": "user", "content": word})


EXTREMES = [
    huge_content,
    huge_field,
    huge_model,
    deep_lists,
    deep_objects,
    never_closed,
    surrogate_in_content,
    surrogate_in_part,
    surrogate_in_model,
    surrogate_in_key,
    zero_in_content,
    same_key_twice,
    huge_number,
    no_number,
]


@pytest.mark.requirement("AE-REQ-7")
@pytest.mark.parametrize("write", EXTREMES, ids=lambda write: write.__name__.replace("_", " "))
def test_an_extreme_body_is_answered_or_refused_and_the_server_lives(
    client: Client,
    nonce: Callable[[str], str],
    key: KeyFacts,
    agent: Agent,
    expect_works: Callable[[], None],
    write: Callable[[str, str], str],
) -> None:
    """A 4xx or an ordinary answer, never a 5xx; the next request is served as if nothing had been."""
    body = write(json.dumps(agent.id), nonce("asked")).encode()
    request = Request("POST", PATH, (("content-type", "application/json"),), body)
    answer = client.send("extreme", request, key=key.name)
    why = f"a body with {(write.__doc__ or '').rstrip('.').lower()}"
    if answer.status == 200:
        expect_completion(answer, why)
    elif not left_unread(answer, body):
        refused = answer.status is not None and 400 <= answer.status < 500
        expect(refused, f"a 4xx or an answer for {why}", shown(answer), MEND, answer)
        expect_refusal(answer, {answer.status or 0}, why, MEND)
    expect_works()


def left_unread(answer: Exchange, body: bytes) -> bool:
    """Whether the server closed the connection on a huge body: a 413 can get lost on the way then."""
    return len(body) >= LONG and answer.status is None and answer.end == "cut"
