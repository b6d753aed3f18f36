"""The server's password."""

from __future__ import annotations

import base64

import pytest

from harness.actors import Client
from harness.check import expect
from harness.exchange import Exchange
from harness.expectations import shown
from harness.opencode_calls import KEY, Opencode

MEND = "ask for HTTP Basic before anything else"
CHALLENGE = 'Basic realm="Secure Area"'
ASKED = (
    ("GET", "/global/health"),
    ("GET", "/doc"),
    ("GET", "/event"),
    ("GET", "/session"),
    ("GET", "/no/such/path"),
    ("POST", "/session"),
    ("PATCH", "/session/ses_x"),
    ("DELETE", "/session/ses_x"),
    ("POST", "/session/ses_x/abort"),
    ("POST", "/session/ses_x/prompt_async"),
    ("PUT", "/no/such/path"),
)
WRONG = {
    "none": None,
    "wrong password": "opencode:wrong",
    "wrong user": "somebody:wrong",
    "no password": "opencode",
}


def encoded(credentials: str) -> str:
    """What goes over the wire for a user and a password."""
    return base64.b64encode(credentials.encode()).decode()


def expect_refused(reply: Exchange, what: str) -> None:
    """401, with the scheme."""
    expect(reply.status == 401, f"401 for {what}", shown(reply), MEND, reply)
    challenge = reply.header("www-authenticate")
    expect(challenge == CHALLENGE, f"www-authenticate: {CHALLENGE} for {what}", repr(challenge), MEND, reply)


@pytest.mark.requirement("OS-AUTH-1")
@pytest.mark.parametrize("credentials", WRONG)
def test_every_path_wants_the_password(opencode: Opencode, credentials: str) -> None:
    """401 and the scheme, for what is there and for what is not, whatever the method."""
    given = WRONG[credentials]
    headers = () if given is None else (("authorization", f"Basic {encoded(given)}"),)
    for method, path in ASKED:
        reply = opencode.head(f"{method} {path}", path, headers, method)
        expect_refused(reply, f"{method} {path} with {credentials}")


@pytest.mark.requirement("OS-AUTH-3")
def test_the_password_may_be_in_the_query(opencode: Opencode, client: Client) -> None:
    """What the query says beats the header."""
    right, wrong = client.secret(KEY), encoded("opencode:wrong")
    mend = "take the user and the password from auth_token too"
    header = ("authorization", f"Basic {wrong}")
    for method, path in (("GET", "/session"), ("POST", "/session/ses_x/abort")):
        own = opencode.head(f"{method} with the token", f"{path}?auth_token={right}", (header,), method)
        let_in = own.status is not None and own.status != 401
        expect(let_in, f"an answer to {method} {path} with auth_token", shown(own), mend, own)
    expect_refused(opencode.head("a wrong token", f"/session?auth_token={wrong}", ()), "a wrong auth_token")
    given = opencode.call("a wrong token, the right header", "GET", f"/session?auth_token={wrong}")
    expect_refused(given, "a wrong auth_token beside the right header")


@pytest.mark.requirement("OS-AUTH-3")
@pytest.mark.parametrize("path", ["/session", "/event", "/no/such/path"])
def test_options_wants_no_password(opencode: Opencode, path: str) -> None:
    """A browser asks before it sends the password."""
    reply = opencode.head("options", path, (), "OPTIONS")
    expect(reply.status == 204, f"204 for OPTIONS {path} without a password", shown(reply), "let it pass", reply)
