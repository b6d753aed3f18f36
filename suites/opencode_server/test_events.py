"""The event streams."""

from __future__ import annotations

import functools
from collections.abc import Callable

import pytest

from harness.actors import JournalReader, Script
from harness.check import expect
from harness.exchange import Exchange
from harness.expectations import shown
from harness.fakes.model.script import Answer
from harness.opencode_calls import Event, Opencode, await_calls, has, idle, kinds, of, of_turn
from harness.target import Facts

MEND = "do as opencode does"
HEARTBEAT = 10.0
TRIES = 5


@pytest.mark.requirement("OS-EVENT-1")
def test_the_stream_begins_with_connected(opencode: Opencode, script: Script, nonce: Callable[[str], str]) -> None:
    """And every event has its three fields, and an id of its own."""
    script.answer("answer", Answer("ok"), nonce=nonce("asked"))
    ear = opencode.listen()
    session = opencode.session()
    opencode.prompt("ask", session, nonce("asked"))
    events = ear.until("idle", idle(session))
    stream = ear.exchange("stream")
    expect(stream.content_type == "text/event-stream", "text/event-stream", shown(stream), MEND, stream)
    expect(kinds(events)[0] == "server.connected", "server.connected first", kinds(events)[0], MEND, stream)
    fields = {tuple(sorted(event)) for event in events}
    expect(fields == {("id", "properties", "type")}, "id, type and properties", repr(fields), MEND, stream)
    ids = [event["id"] for event in events]
    own = len(set(ids)) == len(ids) and all(str(id_).startswith("evt_") for id_ in ids)
    expect(own, "an id of its own for each event", repr(ids), MEND, stream)


@pytest.mark.requirement("OS-EVENT-2")
def test_a_silent_model_leaves_only_the_heartbeat(
    opencode: Opencode, script: Script, journal: JournalReader, nonce: Callable[[str], str], target: Facts
) -> None:
    """A time-out on the stream never fires. What the turn begins with may still come up to the first heartbeat."""
    script.answer("hang", Answer(fault="hang"), nonce=nonce("asked"))
    ear, everything = opencode.listen(), opencode.listen("all directories", "/global/event")
    session = opencode.session()
    opencode.prompt("ask", session, nonce("asked"))
    await_calls(journal, "asked", nonce("asked"))
    wait = HEARTBEAT / target.pace
    events = ear.until("heartbeat", lambda seen: kinds(seen).count("server.heartbeat") >= 2, 2.5 * wait + 2)
    stream = ear.exchange("stream")
    beats = [chunk.at for chunk in stream.chunks if b"server.heartbeat" in chunk.data]
    gap = beats[1] - beats[0] if len(beats) > 1 else 0.0
    expect(0.7 * wait <= gap <= 1.3 * wait + 0.5, f"a heartbeat every {wait:g} s", f"{gap:.2f} s", MEND, stream)
    silence = of_turn(session, events[kinds(events).index("server.heartbeat") :] if beats else events)
    expect(not silence, "no event of the session", repr(kinds(silence)[-5:]), MEND, stream)
    told = everything.until("heartbeat of all", _beats, 2.0)
    expect(_beats(told), "a heartbeat on /global/event too", repr(told[-3:]), MEND, everything.exchange("all"))
    opencode.abort("abort", session)


@pytest.mark.requirement("OS-EVENT-3")
def test_events_are_per_directory(opencode: Opencode, script: Script, nonce: Callable[[str], str]) -> None:
    """A session of another folder is prompted from here, and heard of there."""
    script.answer("half", Answer("half of it", fault="hang_after_text"), nonce=nonce("asked"))
    elsewhere = opencode.elsewhere()
    here = opencode.listen("here")
    header = (("x-opencode-directory", elsewhere),)
    there = opencode.listen("there", f"/event?directory={elsewhere}")
    by_header = opencode.listen("there by header", "/event", header)
    session = opencode.session(query=f"?directory={elsewhere}")
    reply = opencode.prompt("ask", session, nonce("asked"))
    heard = of(session, there.until("speaking", has("message.part.delta", session)))
    expect("message.part.delta" in kinds(heard), "its events there", repr(kinds(heard)), MEND, reply)
    heard = of(session, by_header.until("speaking by header", has("message.part.delta", session)))
    expect("message.part.delta" in kinds(heard), "its events by header too", repr(kinds(heard)), MEND, reply)
    stray = of(session, here.until("nothing", bool))
    expect(not stray, "none of its events here", repr(kinds(stray)), MEND, reply)
    statuses: dict[str, Exchange] = {
        "here": opencode.call("status here", "GET", "/session/status"),
        "by query": opencode.call("status there", "GET", f"/session/status?directory={elsewhere}"),
        "by header": opencode.call("status by header", "GET", "/session/status", headers=header),
    }
    told = {where: status.json() for where, status in statuses.items()}
    busy = {where: session in all_ if isinstance(all_, dict) else None for where, all_ in told.items()}
    wanted = {"here": False, "by query": True, "by header": True}
    expect(busy == wanted, "busy there, unknown here", repr(busy), MEND, reply)
    opencode.abort("abort", session)
    ended = of(session, there.until("ended", idle(session)))
    expect("session.idle" in kinds(ended), "an abort from here that ends it", repr(kinds(ended)[-3:]), MEND, reply)


@pytest.mark.requirement("OS-EVENT-4")
def test_a_late_subscriber_hears_nothing_of_before(
    opencode: Opencode, script: Script, nonce: Callable[[str], str]
) -> None:
    """Subscribe before the prompt, or miss it."""
    script.answer("answer", Answer("ok"), nonce=nonce("asked"))
    early = opencode.listen("early")
    session = opencode.session()
    reply = opencode.message("ask", session, nonce("asked"))
    early.until("idle", idle(session))
    early.settle("settled")
    late = opencode.listen("late")
    other = opencode.session("other")
    events = late.until("other", has("session.created", other))
    expect(has("session.created", other)(events), "what comes later", repr(kinds(events)), MEND, reply)
    expect(not of(session, events), "nothing of before", repr(kinds(of(session, events))), MEND, reply)


@pytest.mark.requirement("OS-EVENT-6")
def test_every_subscriber_hears_every_event(opencode: Opencode, script: Script, nonce: Callable[[str], str]) -> None:
    """The same events in the same order, each under the same id."""
    script.answer("answer", Answer("ok"), nonce=nonce("asked"))
    one, other = opencode.listen("one"), opencode.listen("other")
    session = opencode.session()
    reply = opencode.prompt("ask", session, nonce("asked"))
    heard = [of(session, ear.until(f"idle {at}", idle(session))) for at, ear in enumerate((one, other))]
    told = [[event["id"] for event in events] for events in heard]
    length = min(map(len, told))
    same = all(idle(session)(events) for events in heard) and told[0][:length] == told[1][:length]
    expect(same, "the same events up to idle", f"{kinds(heard[0])} and {kinds(heard[1])}", MEND, reply)


@pytest.mark.requirement("OS-EVENT-5")
def test_the_global_stream_wraps_every_event(opencode: Opencode) -> None:
    """Each with its directory; a foreign directory's too. What comes right behind the first event may be missed."""
    elsewhere = opencode.elsewhere()
    ear = opencode.listen(target="/global/event")
    found: list[object] = []
    for count in range(TRIES):
        session = opencode.session(f"session {count}", f"?directory={elsewhere}")
        events = ear.until(f"heard {count}", functools.partial(_directories, session), 1.0)
        found = _directories(session, events)
        if found:
            break
    stream = ear.exchange("stream")
    expect(found[:1] == [elsewhere], f"payload and directory {elsewhere}", repr(found[:1]), MEND, stream)


def _beats(events: list[Event]) -> bool:
    """Whether a heartbeat came on `/global/event`."""
    return any(event.get("payload", {}).get("type") == "server.heartbeat" for event in events)


def _directories(session: str, events: list[Event]) -> list[object]:
    """What events of `/global/event` that speak of a session name as their directory."""
    return [event.get("directory") for event in events if session in str(event.get("payload"))]
