from __future__ import annotations

import pytest

from harness.fakes.model.tokens import VOCABULARY, log_probabilities, pieces, prompt_text, token_ids

TEXTS = [
    "",
    "a",
    "one two three",
    "  two  spaces\n\ttab ",
    "na\u00efve \u65e5\u672c\u8a9e \U0001f9ea!",
    "x" * 41,
    "\ud800",
]


@pytest.mark.parametrize("text", TEXTS, ids=repr)
def test_tokens_joined_are_the_text(text: str) -> None:
    assert "".join(pieces(text)) == text


@pytest.mark.parametrize("text", TEXTS, ids=repr)
def test_each_token_has_an_id_within_the_vocabulary(text: str) -> None:
    ids = token_ids(text)
    assert len(ids) == len(pieces(text))
    assert all(0 <= id_ < VOCABULARY for id_ in ids)


def test_the_same_text_has_the_same_ids() -> None:
    assert token_ids("one two") == [*token_ids("one"), *token_ids(" two")]


def test_a_word_more_is_a_token_more() -> None:
    counts = [len(pieces("beginning" + " word" * words)) for words in range(40)]
    assert counts == list(range(counts[0], counts[0] + 40))


def test_log_probabilities_are_below_zero_and_belong_to_ids() -> None:
    first, second, again = log_probabilities([1, 2, 1])
    assert first == again
    assert first != second
    assert max(first, second) < 0


def test_a_prompt_is_its_messages_and_tools() -> None:
    body = {"messages": [{"role": "user", "content": "hello"}], "tools": [{"type": "function"}]}
    assert prompt_text(body) == 'user: hello\n[{"type": "function"}]'
