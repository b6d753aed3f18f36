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
        {"permission": [{"permission": "*", "pattern": "*", "action": "maybe"}]},
        {"title": None},
        {"parentID": None},
        {"agent": 1},
    )
    for body in bodies:
        stage.call("POST", "/session", body)
    for target in ("/session/ses_x", "/session/nonsense", "/session/ses_x/message", "/session/nonsense/message"):
        stage.call("GET", target)
    stage.call("GET", "/session/ses_x/children")
    stage.call("DELETE", "/session/ses_x")
    stage.call("DELETE", "/session/nonsense")


@scenario
def session_changes(stage: Stage) -> None:
    """What PATCH /session takes and refuses, and what a session keeps of what it was made with."""
    session = stage.session(title="", metadata={"mine": 1}, permission=[])
    bodies: tuple[Any, ...] = (
        {"title": 1},
        b"[]",
        b"",
        b"{",
        {},
        {"title": None},
        {"permission": ASKING},
        {"title": "b"},
    )
    for body in bodies:
        stage.call("PATCH", f"/session/{session}", body)
    for target in ("message?limit=x", "message?limit=-1", "message?limit=1.5", "message/nonsense", "message/msg_x"):
        stage.call("GET", f"/session/{session}/{target}")


@scenario
def session_lists(stage: Stage) -> None:
    """Sessions are listed by the query's directory, or all; by the beginning, without children, by a word."""
    folder = stage.project_folder.parent / "listed"
    folder.mkdir(exist_ok=True)
    where = f"?directory={folder}"
    parent = str(stage.call("POST", f"/session{where}", {"title": "a word"}).json()["id"])
    stage.call("POST", f"/session{where}", {"title": "another", "parentID": parent})
    for more in ("", "/", "&limit=1", "&roots=true", "&search=WORD"):
        stage.call("GET", f"/session{where}{more}")


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
        b"null",
        {"parts": None},
        {"parts": [None]},
        {"parts": [{"type": "text", "text": None}]},
        {"parts": [text], "tools": {"bash": 1}},
        {"parts": [text], "variant": 1},
        {"parts": [text], "messageID": "x"},
        {"parts": [{**text, "id": "bad"}]},
        {"parts": [{"type": "file", "mime": "text/plain"}]},
        {"parts": [text], "format": "x"},
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
