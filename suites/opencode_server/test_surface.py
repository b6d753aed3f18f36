"""What is there besides sessions."""

from __future__ import annotations

import pytest

from harness.check import expect
from harness.expectations import shown
from harness.opencode_calls import Opencode

ROUTES = {
    "/session": "post",
    "/session/{sessionID}/prompt_async": "post",
    "/session/{sessionID}/message": "post",
    "/session/{sessionID}/abort": "post",
    "/session/status": "get",
    "/event": "get",
    "/permission": "get",
    "/question": "get",
}


@pytest.mark.requirement("OS-SURFACE-1")
def test_health_names_the_version(opencode: Opencode) -> None:
    """Healthy, and which version."""
    reply = opencode.call("health", "GET", "/global/health")
    body = reply.json()
    right = isinstance(body, dict) and body.get("healthy") is True and str(body.get("version", "")).count(".") == 2
    expect(
        reply.status == 200 and right, '200 {"healthy":true,"version":"x.y.z"}', shown(reply), "answer health", reply
    )


@pytest.mark.requirement("OS-SURFACE-2")
def test_the_document_holds_the_routes(opencode: Opencode) -> None:
    """OpenAPI 3.1, with the routes that endpoints use."""
    reply = opencode.call("doc", "GET", "/doc")
    body = reply.json() if isinstance(reply.json(), dict) else {}
    version = str(body.get("openapi"))
    expect(
        reply.status == 200 and version.startswith("3.1"), "an OpenAPI 3.1 document", shown(reply), "serve it", reply
    )
    paths = body.get("paths", {})
    missing = [f"{method} {path}" for path, method in ROUTES.items() if method not in paths.get(path, {})]
    expect(not missing, "the routes of sessions and events in it", f"without {missing}", "document them", reply)


@pytest.mark.requirement("OS-SURFACE-3")
@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE"])
def test_an_unknown_path_is_the_web_application(opencode: Opencode, method: str) -> None:
    """Never a JSON 404: the status tells nothing about whether a route exists."""
    reply = opencode.call("unknown", method, "/no/such/path")
    page = reply.status == 200 and reply.content_type == "text/html"
    expect(page, f"200 text/html for {method} of an unknown path", shown(reply), "answer with the page", reply)


@pytest.mark.requirement("OS-SURFACE-3")
@pytest.mark.parametrize("path", ["/session", "/no/such/path"])
def test_options_is_empty(opencode: Opencode, path: str) -> None:
    """Of what is there, and of what is not."""
    reply = opencode.call("options", "OPTIONS", path)
    expect(reply.status == 204 and not reply.body, f"204 for OPTIONS of {path}", shown(reply), "answer so", reply)


@pytest.mark.requirement("OS-SURFACE-4")
@pytest.mark.parametrize("path", ["/session", "/no/such/path"])
def test_head_tells_nothing(opencode: Opencode, path: str) -> None:
    """It has no route: the page's status and type, and neither its length nor its text."""
    reply = opencode.call("head", "HEAD", path)
    empty = reply.header("content-length") == "0" and not reply.body
    right = reply.status == 200 and reply.content_type == "text/html" and empty
    expect(right, "200 text/html of length 0", shown(reply), "answer HEAD with nothing", reply)
