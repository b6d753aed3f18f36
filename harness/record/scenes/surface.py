"""What a server answers while nothing runs."""

from __future__ import annotations

from typing import Any

from harness.record.scenario import ASKING, WITH_BODY, scenario
from harness.record.stage import MODEL, Stage


@scenario
def authentication(stage: Stage) -> None:
    """HTTP Basic is wanted on every route."""
    for credentials in (None, ("opencode", "wrong"), ("other", stage.stack.password)):
        for target in ("/global/health", "/doc", "/event", "/session", "/nothing"):
            stage.call_as(credentials, "GET", target)
    stage.call_as(None, "POST", "/session", b"{")


@scenario
def surface(stage: Stage) -> None:
    """Health, and the web application under every unknown path."""
    stage.call("GET", "/global/health")
    for method, target in (("GET", "/nothing"), ("GET", "/session/ses_x/nothing"), ("GET", "/")):
        stage.call(method, target)
    others = (("POST", "/nothing"), ("PUT", "/session"), ("DELETE", "/event"), ("OPTIONS", "/session"))
    for method, target in (*others, ("HEAD", "/session"), ("HEAD", "/nothing")):
        stage.call(method, target, {} if method in WITH_BODY else None)


@scenario
def doc(stage: Stage) -> None:
    """The document of the routes."""
    stage.call("GET", "/doc")


@scenario
def sessions(stage: Stage) -> None:
    """Sessions are created, read, listed, changed and deleted."""
    heard = stage.listen()
    session = stage.session()
    untitled = stage.call("POST", "/session", {}).json()["id"]
    child = stage.session(title="child", parentID=session)
    stage.session(permission=ASKING)
    stage.call("GET", f"/session/{session}")
    stage.call("GET", f"/session/{session}/children")
    stage.call("PATCH", f"/session/{session}", {"title": "changed"})
    stage.call("GET", "/session/status")
    stage.call("DELETE", f"/session/{untitled}")
    stage.call("DELETE", f"/session/{session}")
    stage.call("GET", f"/session/{child}")
    stage.call("GET", f"/session/{session}")
    stage.quiet(heard)


@scenario
def session_refusals(stage: Stage) -> None:
    """What POST /session refuses."""
    bodies: tuple[Any, ...] = (
        b"{",
        b"[]",
        b'"x"',
        b"",
        {"title": 1},
        {"parentID": "x"},
        {"parentID": "ses_x"},
        {"permission": [{}]},
    )
    for body in bodies:
        stage.call("POST", "/session", body)
    for target in ("/session/ses_x", "/session/nonsense", "/session/ses_x/message", "/session/nonsense/message"):
        stage.call("GET", target)
    stage.call("GET", "/session/ses_x/children")
    stage.call("DELETE", "/session/ses_x")
    stage.call("DELETE", "/session/nonsense")


@scenario
def prompt_refusals(stage: Stage) -> None:
    """What prompt_async and message refuse at once."""
    session = stage.session()
    text = {"type": "text", "text": "x"}
    bodies: tuple[Any, ...] = (
        b"{",
        b"",
        b"[]",
        {},
        {"parts": [{"type": "text"}]},
        {"parts": [{"type": "text", "text": 1}]},
        {"parts": [{"type": "file", "url": "file:///x"}]},
        {"parts": [{"type": "nonsense"}]},
        {"parts": [text], "model": {"providerID": "litellm"}},
        {"parts": [text], "model": "litellm/small-1"},
        {"parts": "x"},
        {"parts": [text], "noReply": "yes"},
        {"parts": [text], "system": 1},
    )
    for route in ("prompt_async", "message"):
        for body in bodies:
            stage.call("POST", f"/session/{session}/{route}", body)
        for unknown in ("ses_x", "nonsense"):
            stage.call("POST", f"/session/{unknown}/{route}", {"parts": [text], "model": MODEL})
    stage.call("GET", f"/session/{session}/message")


@scenario
def prompt_accepted(stage: Stage) -> None:
    """What prompt_async accepts: no parts, no reply wanted, and keys that it does not know."""
    heard = stage.listen()
    bodies: tuple[dict[str, Any], ...] = ({"parts": []}, {"noReply": True}, {"nonsense": 1})
    for body in bodies:
        session = stage.session()
        stage.prompt(session, "hello", **body)
        stage.quiet(heard, 2.5)
        stage.call("GET", f"/session/{session}/message")
