"""The key is looked at before anything else of a request."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.actors import Client
from harness.chat import PATH, ask
from harness.check import expect
from harness.exchange import Headers, Request
from harness.expectations import expect_refusal, shown
from harness.target import Agent
from harness.target_keys import KeyFacts

MEND = "check the key in front of every route, before the body is read"

NO_JSON = {"broken JSON": b'{"model": ', "no JSON": b"hello", "no text": b"\xff\xfe", "empty body": b""}


def no_json(body: bytes, *headers: tuple[str, str]) -> Request:
    """A completions request whose body is not JSON."""
    return Request("POST", PATH, (("content-type", "application/json"), *headers), body)


@pytest.mark.requirement("AE-AUTH-2")
@pytest.mark.parametrize("body", NO_JSON.values(), ids=NO_JSON.keys())
@pytest.mark.parametrize("given", ["no key", "unknown key"])
def test_a_body_that_is_no_json_is_not_looked_at_without_a_key(
    client: Client,
    nonce: Callable[[str], str],
    key: KeyFacts,
    expect_works: Callable[[], None],
    given: str,
    body: bytes,
) -> None:
    """Without a good key it is a 401, with one it is the body that is refused."""
    headers: Headers = (("authorization", f"Bearer sk-{nonce('unknown')}"),) if given == "unknown key" else ()
    refused = client.send("without a good key", no_json(body, *headers))
    expect_refusal(refused, {401}, f"a body that is no JSON, with {given}", MEND)
    read = client.send("with a good key", no_json(body), key=key.name)
    expect(read.status not in (200, 401), "another refusal with a good key", shown(read), MEND, read)
    expect_works()


@pytest.mark.requirement("AE-AUTH-3")
@pytest.mark.parametrize("route", ["models", "completions"])
@pytest.mark.parametrize("given", ["no key", "unknown key"])
def test_a_401_says_which_scheme_it_wants(
    client: Client,
    nonce: Callable[[str], str],
    agent: Agent,
    expect_works: Callable[[], None],
    given: str,
    route: str,
) -> None:
    """HTTP wants WWW-Authenticate with every 401."""
    plain = Request("GET", "/v1/models") if route == "models" else ask(agent.id, "Hello")
    headers: Headers = (("authorization", f"Bearer sk-{nonce('unknown')}"),) if given == "unknown key" else ()
    refused = client.send("refused", Request(plain.method, plain.target, (*plain.headers, *headers), plain.body))
    expect_refusal(refused, {401}, f"a request with {given}", MEND)
    scheme = (refused.header("www-authenticate") or "").strip()
    mend = "add `WWW-Authenticate: Bearer`"
    expect(scheme.lower().startswith("bearer"), "WWW-Authenticate: Bearer", scheme or "no such header", mend, refused)
    expect_works()
