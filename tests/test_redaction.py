from __future__ import annotations

import base64
import json
from dataclasses import replace

import pytest

from harness.exchange import Chunk, Exchange, Request, exchange_from_json, exchange_to_json
from harness.redaction import Redactor
from harness.results import Act, results_of
from tests.sample_results import finding, records, result, results

KEY = "sk-canary/1+\"é\\' x"
PLAIN = "sk-canary-0123456789"
HELD = "[secret:key]"
WORDS = ("test", "fail", "e", "1", "record", "check", "verdict", "body", "headers", "expected", "base64", "client")
ACT = Act("a/test_auth.py::test_x", "client", "test", {"body": "test"}, {"exchange": 1})
EXCHANGE = Exchange(1, "client", Request("POST", "/v1"), 0.0, status=200, end="complete", duration=1.0)


def redacted(exchange: Exchange, secret: str = PLAIN) -> Exchange:
    record = Redactor({"key": secret}).redact_record(json.loads(json.dumps(exchange_to_json(exchange))))
    return exchange_from_json(record)


def in_pieces(*pieces: bytes) -> Exchange:
    return replace(EXCHANGE, chunks=tuple(Chunk(float(at), piece) for at, piece in enumerate(pieces)))


@pytest.mark.parametrize(
    "spelling",
    [
        KEY,
        json.dumps(KEY)[1:-1],
        json.dumps(KEY, ensure_ascii=False)[1:-1],
        "sk-canary%2F1%2B%22%C3%A9%5C%27%20x",
        "sk-canary/1%2B%22%C3%A9%5C%27%20x",
        "sk-canary%2F1%2B%22%C3%A9%5C%27+x",
    ],
    ids=["plain", "JSON in ASCII", "JSON", "quoted", "quoted path", "quoted form"],
)
def test_every_spelling_is_replaced(spelling: str) -> None:
    assert Redactor({"key": KEY}).redact(f"<{spelling}>") == f"<{HELD}>"


def test_http_basic_form_is_replaced() -> None:
    redactor = Redactor()
    redactor.add("password", PLAIN, user="opencode")
    basic = base64.b64encode(f"opencode:{PLAIN}".encode()).decode()
    assert redactor.redact(f"Basic {basic}") == "Basic [secret:password]"


def test_text_without_a_secret_is_unchanged() -> None:
    text = "\x85\u2028 é \ud800 \\u00e9 %20 [secret:other]"
    assert Redactor({"key": PLAIN}).redact(text) == text


def test_redactor_without_secrets_changes_nothing() -> None:
    value = {"a": ["é", {"base64": "/w=="}, 1.5, None, True], "hop": "client", "chunks": [[0.5, "x"]]}
    assert Redactor({"empty": ""}).redact_json(value) == Redactor({"empty": ""}).redact_record(value) == value


def test_each_secret_gets_its_own_placeholder() -> None:
    redactor = Redactor({"a": "first-secret", "b": "other-secret"})
    assert redactor.redact("other-secret first-secret") == "[secret:b] [secret:a]"


@pytest.mark.parametrize("order", [("long", "short"), ("short", "long")])
def test_secret_inside_another_does_not_break_it(order: tuple[str, str]) -> None:
    values = {"long": "canary-tail", "short": "canary"}
    redactor = Redactor({name: values[name] for name in order})
    assert redactor.redact("canary-tail canary") == "[secret:long] [secret:short]"


def test_secret_that_looks_like_a_part_of_a_placeholder_leaves_placeholders_alone() -> None:
    assert Redactor({"a": "canary", "b": "secret"}).redact("canary") == "[secret:a]"


def test_secret_with_the_signs_of_a_pattern_is_taken_literally() -> None:
    assert Redactor({"key": "a.c*"}).redact("abc a.c*") == f"abc {HELD}"


def test_bytes_are_redacted() -> None:
    assert Redactor({"key": PLAIN}).redact_bytes(b"\xff" + PLAIN.encode()) == b"\xff" + HELD.encode()


def test_keys_and_nested_values_are_redacted() -> None:
    assert Redactor({"key": PLAIN}).redact_json({PLAIN: [{"a": PLAIN}, 1]}) == {HELD: [{"a": HELD}, 1]}


def test_numbers_and_other_values_are_unchanged() -> None:
    assert Redactor({"key": "1"}).redact_json([1, 1.5, None, True]) == [1, 1.5, None, True]


def test_request_is_redacted_everywhere() -> None:
    headers = (("Authorization", f"Bearer {PLAIN}"), ("X-Other", "kept"))
    request = Request("POST", f"/v1?key={PLAIN}", headers, json.dumps({"k": PLAIN}).encode())
    assert redacted(replace(EXCHANGE, request=request)).request == Request(
        "POST", f"/v1?key={HELD}", (("Authorization", f"Bearer {HELD}"), ("X-Other", "kept")), b'{"k": "[secret:key]"}'
    )


def test_request_body_that_is_not_utf_8_is_redacted() -> None:
    request = replace(EXCHANGE.request, body=b"\xff" + PLAIN.encode() + b"\xfe")
    assert redacted(replace(EXCHANGE, request=request)).request.body == b"\xff" + HELD.encode() + b"\xfe"


@pytest.mark.parametrize("size", range(1, len(PLAIN) + 8))
def test_secret_cut_across_chunks_is_replaced_once(size: int) -> None:
    body = f"a {PLAIN} b".encode()
    pieces = [body[at : at + size] for at in range(0, len(body), size)]
    assert redacted(in_pieces(*pieces)).text == f"a {HELD} b"


def test_redaction_across_chunks_keeps_the_other_cuts_and_all_times() -> None:
    exchange = redacted(in_pieces(b"one ", b"x sk-canary-", b"0123", b"456789 y", b" end"))
    assert exchange.chunks == (
        Chunk(0.0, b"one "),
        Chunk(1.0, f"x {HELD}".encode()),
        Chunk(2.0, b""),
        Chunk(3.0, b" y"),
        Chunk(4.0, b" end"),
    )


def test_chunks_without_a_secret_are_unchanged() -> None:
    exchange = in_pieces("é".encode()[:1], "é".encode()[1:], b"", b"\xff")
    assert redacted(exchange) == exchange


def test_secret_in_a_body_that_is_not_utf_8_is_replaced_across_chunks() -> None:
    exchange = in_pieces(b"\xff" + PLAIN[:5].encode(), PLAIN[5:].encode() + b"\xfe")
    assert redacted(exchange).body == b"\xff" + HELD.encode() + b"\xfe"


def test_secret_with_a_character_cut_across_chunks_is_replaced() -> None:
    cut = KEY.encode().index("é".encode()) + 1
    assert redacted(in_pieces(KEY.encode()[:cut], KEY.encode()[cut:]), KEY).text == HELD


def test_answer_headers_are_redacted() -> None:
    assert redacted(replace(EXCHANGE, headers=(("Set-Cookie", f"k={PLAIN}"),))).headers == (
        ("Set-Cookie", f"k={HELD}"),
    )


def test_value_given_to_the_redactor_is_not_changed() -> None:
    value = {"a": [PLAIN]}
    Redactor({"key": PLAIN}).redact_json(value)
    assert value == {"a": [PLAIN]}


def test_redacting_twice_is_redacting_once() -> None:
    redactor = Redactor({"key": PLAIN})
    once = redactor.redact(f"a {PLAIN}")
    assert redactor.redact(once) == once


def events(*deltas: dict[str, str]) -> list[bytes]:
    chunks = [json.dumps({"choices": [{"index": 0, "delta": delta}]}) for delta in deltas]
    return [f"data: {chunk}\n\n".encode() for chunk in [*chunks, "[DONE]"]]


def told(exchange: Exchange, name: str = "content") -> str:
    lines = [line.removeprefix("data: ") for line in exchange.text.splitlines() if line and not line.endswith("[DONE]")]
    return "".join(json.loads(line)["choices"][0]["delta"].get(name, "") for line in lines)


@pytest.mark.parametrize("size", range(1, len(PLAIN) + 8))
@pytest.mark.parametrize("secret", [PLAIN, KEY])
def test_secret_told_in_parts_by_a_stream_is_replaced_once(secret: str, size: int) -> None:
    whole = f'"é\\ {secret}, {secret}\n'
    texts = [whole[at : at + size] for at in range(0, len(whole), size)]
    pieces = events(*({"content": text} for text in texts))
    exchange = redacted(in_pieces(*pieces), secret)
    assert told(exchange) == f'"é\\ {HELD}, {HELD}\n'
    assert len(exchange.chunks) == len(pieces)


def test_secret_told_in_parts_between_other_texts_is_replaced() -> None:
    mixed = [{"content": PLAIN[:9]}, {"reasoning_content": "sk-"}, {"content": PLAIN[9:]}, {"reasoning_content": "x"}]
    exchange = redacted(in_pieces(*events(*mixed)))
    assert (told(exchange), told(exchange, "reasoning_content")) == (HELD, "sk-x")


def test_parts_of_a_stream_without_the_whole_secret_are_unchanged() -> None:
    exchange = in_pieces(
        *events({"content": "\\u"}, {"content": PLAIN[:9]}, {"content": PLAIN[10:]}, {"content": "\ud800"})
    )
    assert redacted(exchange) == exchange


def test_texts_that_are_not_json_are_left() -> None:
    exchange = in_pieces(b'data: {"content": "\\x"}\n\n', b'data: {"content": "\xff"}\n\n')
    assert redacted(exchange) == exchange


@pytest.mark.parametrize("secret", WORDS)
def test_a_record_is_read_again_whatever_word_is_a_secret(secret: str) -> None:
    """A target makes up the keys that it mints, and a person may use `test` for one."""
    failed = result("a/test_auth.py::test_x", ("AE-AUTH-1",), "fail", finding(1))
    sample = replace(results([failed], exchanges=[replace(EXCHANGE, label="test")]), acts=(ACT,))
    header, *others = json.loads(json.dumps(records(sample)))
    again = results_of([header, *(Redactor({"key": secret}).redact_record(record) for record in others)])
    (check,) = again.checks
    assert (check.check, check.requirements, check.verdict, check.signature) == (
        failed.check,
        failed.requirements,
        failed.verdict,
        failed.signature,
    )
    assert (again.exchanges[1].label, again.exchanges[1].hop, again.exchanges[1].end) == ("test", "client", "complete")
    assert (again.acts[0].check, again.acts[0].label, set(again.acts[0].asked)) == (ACT.check, ACT.label, {"body"})
    assert again.footer == sample.footer
