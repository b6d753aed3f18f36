"""Sessions: made, read, listed, refused, deleted."""

from __future__ import annotations

from typing import Any

import pytest

from harness.check import expect
from harness.exchange import Exchange
from harness.expectations import shown
from harness.opencode_calls import Event, Opencode, expect_not_found, expect_unknown_error, has, ids_in, named, of

FIELDS = ("id", "slug", "projectID", "directory", "cost", "tokens", "title", "version", "time")
REFUSED: dict[str, Any] = {
    "not JSON": b"{",
    "a list": b"[]",
    "a title that is a number": {"title": 1},
    "a parent that is no id": {"parentID": "x"},
    "a rule that is none": {"permission": [{}]},
    "a rule with an action that there is not": {"permission": [{"permission": "*", "pattern": "*", "action": "maybe"}]},
    "a title that is nothing": {"title": None},
}
CHILD_SECONDS = 5.0
MEND = "do as opencode does"


@pytest.mark.requirement("OS-SESSION-1")
def test_a_new_session_is_described(opencode: Opencode) -> None:
    """All fields, the title that was asked for, and a count of nothing."""
    reply = opencode.call("create", "POST", "/session", {"title": "a title"})
    session = reply.json() if isinstance(reply.json(), dict) else {}
    missing = [field for field in FIELDS if field not in session]
    expect(reply.status == 200 and not missing, f"200 with {FIELDS}", shown(reply), MEND, reply)
    expect(str(session["id"]).startswith("ses_"), "an id that begins with ses_", session["id"], MEND, reply)
    expect(session["title"] == "a title", "the title that was asked for", session["title"], MEND, reply)
    spent = (session["cost"], session["tokens"]["input"], session["tokens"]["output"])
    expect(spent == (0, 0, 0), "a session that cost nothing so far", repr(spent), MEND, reply)


@pytest.mark.requirement("OS-SESSION-2")
def test_a_session_is_read_and_listed(opencode: Opencode) -> None:
    """By its id, and in the list of its folder."""
    session = opencode.session(title="to be read")
    read = opencode.call("read", "GET", f"/session/{session}")
    body = read.json()
    same = isinstance(body, dict) and (body.get("id"), body.get("title")) == (session, "to be read")
    expect(read.status == 200 and same, "the session as it was created", shown(read), MEND, read)
    listed = opencode.call("list", "GET", "/session")
    ids = [entry.get("id") for entry in listed.json()] if isinstance(listed.json(), list) else []
    expect(session in ids, "the session in the list", shown(listed), MEND, listed)


@pytest.mark.requirement("OS-SESSION-3")
@pytest.mark.parametrize("suffix", ["", "/message", "/children"])
def test_a_session_that_does_not_exist_is_refused(opencode: Opencode, suffix: str) -> None:
    """404 for an id of the right form, 500 for another."""
    expect_not_found(opencode.call("unknown", "GET", f"/session/ses_x{suffix}"), "Session not found: ses_x")
    if not suffix:
        expect_not_found(opencode.call("delete", "DELETE", "/session/ses_x"), "Session not found: ses_x")
        expect_unknown_error(opencode.call("delete malformed", "DELETE", "/session/nonsense"))
    if suffix != "/children":
        expect_unknown_error(opencode.call("malformed", "GET", f"/session/nonsense{suffix}"))


@pytest.mark.requirement("OS-SESSION-4")
def test_a_deleted_session_is_gone(opencode: Opencode) -> None:
    """true, then 404, and an event; its children go with it."""
    ear = opencode.listen()
    session = opencode.session()
    child = opencode.session("child", parentID=session)
    deleted = opencode.call("delete", "DELETE", f"/session/{session}")
    expect(deleted.status == 200 and deleted.json() is True, "200 true", shown(deleted), MEND, deleted)
    events = of(session, ear.until("deleted", has("session.deleted", session)))
    told = any(event["type"] == "session.deleted" for event in events)
    expect(told, "session.deleted on the stream", str([event["type"] for event in events]), MEND, deleted)
    gone = opencode.call("read", "GET", f"/session/{session}")
    expect(gone.status == 404, "404 for a session that was deleted", shown(gone), MEND, gone)
    told = has("session.deleted", child)(ear.until("child deleted", has("session.deleted", child), CHILD_SECONDS))
    expect(told, "session.deleted of the child too", "none", MEND, deleted)
    gone = opencode.call("read child", "GET", f"/session/{child}")
    expect(gone.status == 404, "404 for a child of it", shown(gone), MEND, gone)


@pytest.mark.requirement("OS-SESSION-7")
def test_a_session_is_given_another_title(opencode: Opencode) -> None:
    """Answered, told and kept."""
    ear = opencode.listen()
    session = opencode.session()

    def told(events: list[Event]) -> bool:
        return any(one["info"]["title"] == "another" for one in named("session.updated", of(session, events)))

    reply = opencode.call("change", "PATCH", f"/session/{session}", {"title": "another"})
    body = reply.json() if isinstance(reply.json(), dict) else {}
    expect(reply.status == 200 and body.get("title") == "another", "200 with the title", shown(reply), MEND, reply)
    expect(told(ear.until("updated", told, CHILD_SECONDS)), "session.updated with it", "none", MEND, reply)
    title = opencode.call("read", "GET", f"/session/{session}").json().get("title")
    expect(title == "another", "the title when it is read", repr(title), MEND, reply)


@pytest.mark.requirement("OS-SESSION-8")
def test_what_is_no_change_of_a_session_is_refused(opencode: Opencode) -> None:
    """400 with the place, and the session stays as it was."""
    session = opencode.session(title="to stay")
    refused: dict[str, tuple[Any, str]] = {
        "number": ({"title": 1}, 'Expected string | null, got 1\n  at ["title"]'),
        "list": (b"[]", "Expected object, got []"),
        "nothing": (b"", "Expected object, got undefined"),
    }
    for label, (body, message) in refused.items():
        reply = opencode.call(label, "PATCH", f"/session/{session}", body)
        wanted = {"name": "BadRequest", "data": {"message": message, "kind": "Payload"}}
        expect(reply.status == 400 and reply.json() == wanted, f"400 {wanted}", shown(reply), MEND, reply)
    title = opencode.call("read", "GET", f"/session/{session}").json().get("title")
    expect(title == "to stay", "the title that it had", repr(title), MEND)


@pytest.mark.requirement("OS-SESSION-9")
def test_the_list_of_sessions_is_narrowed(opencode: Opencode) -> None:
    """By the directory, without children, by a word of the title, to so many."""
    query = f"?directory={opencode.elsewhere()}"
    parent = opencode.session("parent", query, title="a word in its title")
    child = opencode.session("child", query, title="another", parentID=parent)
    here = opencode.session("here", title="a word here too")
    wanted = {"": {parent, child}, "&roots=true": {parent}, "&search=WORD": {parent}, "&limit=1": {child}}
    for more, ids in wanted.items():
        listed = opencode.call(f"list {more}", "GET", f"/session{query}{more}")
        found = set(ids_in(listed)) & {parent, child, here}
        expect(found == ids, f"{len(ids)} of three sessions with {query}{more}", f"{len(found)}", MEND, listed)


@pytest.mark.requirement("OS-SESSION-5")
def test_a_child_is_listed_with_its_parent(opencode: Opencode) -> None:
    """The parent's children, and the child's parentID."""
    parent = opencode.session("parent")
    child = opencode.session("child", parentID=parent)
    listed = opencode.call("children", "GET", f"/session/{parent}/children")
    body = listed.json() if isinstance(listed.json(), list) else []
    found = [(entry.get("id"), entry.get("parentID")) for entry in body]
    expect(found == [(child, parent)], "the child with its parent's id", shown(listed), MEND, listed)


@pytest.mark.requirement("OS-SESSION-6")
@pytest.mark.parametrize("body", REFUSED)
def test_a_session_of_the_wrong_shape_is_refused(opencode: Opencode, body: str) -> None:
    """400, without a word about where."""
    reply = opencode.call("create", "POST", "/session", REFUSED[body])
    told = isinstance(reply.json(), dict) and reply.json().get("_tag") == "BadRequest"
    expect(reply.status == 400 and told, '400 {"_tag":"BadRequest"}', shown(reply), MEND, reply)


@pytest.mark.requirement("OS-SESSION-6")
def test_a_session_needs_no_body(opencode: Opencode) -> None:
    """An empty body is a session without wishes."""
    reply: Exchange = opencode.call("create", "POST", "/session", b"")
    expect(reply.status == 200, "200 for an empty body", shown(reply), MEND, reply)
