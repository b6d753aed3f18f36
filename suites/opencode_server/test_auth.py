"""The server's password."""

from __future__ import annotations

import base64

import pytest

from harness.check import expect
from harness.expectations import shown
from harness.opencode_calls import Opencode

PATHS = ("/global/health", "/doc", "/event", "/session", "/no/such/path")
WRONG = {
    "none": None,
    "wrong password": "opencode:wrong",
    "wrong user": "somebody:wrong",
    "no password": "opencode",
}


@pytest.mark.requirement("OS-AUTH-1")
@pytest.mark.parametrize("credentials", WRONG)
def test_every_path_wants_the_password(opencode: Opencode, credentials: str) -> None:
    """401 and the scheme, for what is there and for what is not."""
    given = WRONG[credentials]
    headers = () if given is None else (("authorization", f"Basic {base64.b64encode(given.encode()).decode()}"),)
    for path in PATHS:
        reply = opencode.head(path, path, headers)
        mend = "ask for HTTP Basic before anything else"
        expect(reply.status == 401, f"401 for {path} with {credentials}", shown(reply), mend, reply)
        challenge = reply.header("www-authenticate")
        wanted = 'Basic realm="Secure Area"'
        expect(challenge == wanted, f"www-authenticate: {wanted} for {path}", repr(challenge), mend, reply)
