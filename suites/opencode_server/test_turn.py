"""A turn that goes well: its events, its text, its model call."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import pytest

from harness.actors import JournalReader, Script
from harness.check import expect
from harness.expectations import shown
from harness.fakes.model.script import Answer, messages_of
from harness.opencode_calls import (
    Event,
    Opencode,
    calls_with,
    has,
    idle,
    kinds,
    named,
    of,
    parts,
    prompt,
    session_in,
    text_of_deltas,
)
from harness.telling import beginning

MEND = "do as opencode does"
TEXT = "Hello, this is an answer of several pieces."
ORDER = (
    "session.created",
    "message.updated user",
    "part text",
    "session.status busy",
    "message.updated assistant",
    "part step-start",
    "part text",
    "message.part.delta",
    "part text",
    "part step-finish",
    "message.updated assistant",
    "session.status idle",
    "session.idle",
)
TITLED_SECONDS = 5.0
BESIDE_SECONDS = 5.0
BESIDE = ("session.updated", "session.diff")
COUNTED = ("input", "output", "reasoning")
ALL_DENIED = [{"permission": "*", "pattern": "*", "action": "deny"}]


def outline(events: list[Event]) -> list[str]:
    """The turn in its order: repetitions once, and what runs beside it left out."""
    told: list[str] = []
    asked = False
    for kind, event in zip(kinds(events), events, strict=True):
        properties = event["properties"]
        line = kind
        if kind == "message.part.updated":
            line = f"part {properties['part']['type']}"
        elif kind == "message.updated":
            role = properties["info"]["role"]
            if role == "user" and asked:
                continue
            asked = asked or role == "user"
            line = f"message.updated {role}"
        busy_again = line == "session.status busy" and line in told
        if line not in BESIDE and not busy_again and told[-1:] != [line]:
            told.append(line)
    return told


@pytest.mark.requirement("OS-TURN-1")
def test_the_events_of_a_turn_are_in_order(opencode: Opencode, script: Script, nonce: Callable[[str], str]) -> None:
    """From the user's message to idle."""
    script.answer("answer", Answer(TEXT), nonce=nonce("asked"))
    ear = opencode.listen()
    session = opencode.session()
    reply = opencode.prompt("ask", session, nonce("asked"))
    told = outline(of(session, ear.until("idle", idle(session))))
    told = told[: told.index("session.idle") + 1] if "session.idle" in told else told
    expect(tuple(told) == ORDER, " → ".join(ORDER), " → ".join(told), MEND, reply)
    beside = kinds(ear.until("beside", lambda seen: all(has(kind, session)(seen) for kind in BESIDE), BESIDE_SECONDS))
    expect(set(BESIDE) <= set(beside), f"{BESIDE} beside the turn", repr(set(beside)), MEND, reply)


@pytest.mark.requirement("OS-TURN-2")
def test_the_deltas_are_the_text(opencode: Opencode, script: Script, nonce: Callable[[str], str]) -> None:
    """What is told piece by piece, as a whole, and in the list."""
    script.answer("answer", Answer(TEXT), nonce=nonce("asked"))
    ear = opencode.listen()
    session = opencode.session()
    reply = opencode.prompt("ask", session, nonce("asked"))
    events = of(session, ear.until("idle", idle(session)))
    texts = [part for part in parts(events) if part["type"] == "text" and "time" in part]
    expect([part["text"] for part in texts] == ["", TEXT], "empty, then whole", repr(texts), MEND, reply)
    expect("end" in texts[-1]["time"], "an end of the whole text", repr(texts[-1]["time"]), MEND, reply)
    named_ = {(delta.get("messageID"), delta.get("field")) for delta in named("message.part.delta", events)}
    expect(named_ == {(texts[-1]["messageID"], "text")}, "its message in each delta", repr(named_), MEND, reply)
    joined = text_of_deltas(events, texts[-1]["id"])
    expect(joined == TEXT, "deltas that join to the text", repr(joined), MEND, reply)
    listed = [part for part in opencode.messages("messages", session)[-1]["parts"] if part["type"] == "text"]
    expect([part["text"] for part in listed] == [TEXT], "the text in the list", repr(listed), MEND, reply)


@pytest.mark.requirement("OS-TURN-3")
def test_the_counts_are_the_model_servers(opencode: Opencode, script: Script, nonce: Callable[[str], str]) -> None:
    """In the step's end, in the message and in the session; a model without a price costs nothing."""
    script.answer("answer", Answer(TEXT), nonce=nonce("asked"))
    ear = opencode.listen()
    session = opencode.session()
    reply = opencode.prompt("ask", session, nonce("asked"))
    events = of(session, ear.until("idle", idle(session)))
    ends = [part.get("tokens", {}) for part in parts(events) if part["type"] == "step-finish"]
    infos = [info["info"] for info in named("message.updated", events) if "finish" in info["info"]]
    tokens = ends[-1] if ends else {}
    expect(tokens.get("output") == len(TEXT) // 4 + 1, "the model server's count", repr(tokens), MEND, reply)
    counted: list[Any] = [tokens.get(key) for key in COUNTED]
    summed = all(isinstance(count, int) for count in counted) and tokens.get("total") == sum(counted)
    expect(summed and counted[0] + counted[2] > 0, "a total that is the sum", repr(tokens), MEND, reply)
    expect(bool(infos) and infos[-1].get("tokens") == tokens, "the same in the message", repr(infos[-1:]), MEND, reply)
    costs = [part.get("cost") for part in parts(events) if part["type"] == "step-finish"] + [infos[-1].get("cost")]
    expect(costs == [0, 0], "cost 0 in both", repr(costs), MEND, reply)
    second = opencode.message("ask again", session, "more").json()["info"]["tokens"]
    total = opencode.call("read", "GET", f"/session/{session}").json().get("tokens", {})
    spent = {key: total.get(key) for key in COUNTED}
    summed_up = {key: tokens[key] + second[key] for key in COUNTED}
    expect(spent == summed_up, f"the sum of both turns in the session, {summed_up}", repr(spent), MEND, reply)


@pytest.mark.requirement("OS-TURN-4")
@pytest.mark.parametrize("model", ["vendor/large-1", "small-1"])
def test_the_model_call_streams_and_offers_tools(
    opencode: Opencode, script: Script, journal: JournalReader, nonce: Callable[[str], str], model: str
) -> None:
    """One call, with the whole model id."""
    script.answer("answer", Answer(TEXT), nonce=nonce("asked"))
    session = opencode.session()
    wanted = {"providerID": "litellm", "modelID": model}
    reply = opencode.message("ask", session, nonce("asked"), model=wanted)
    calls = calls_with(journal, "calls", nonce("asked"))
    bodies = [call.request.json() for call in calls]
    expect(len(calls) == 1, "one model call", str(len(calls)), MEND, reply)
    body = bodies[0]
    expect(body.get("model") == model, f"model {model!r}", repr(body.get("model")), MEND, calls[0])
    usage = body.get("stream_options", {}).get("include_usage")
    expect((body.get("stream"), usage) == (True, True), "a stream with usage", repr(body.get("stream")), MEND, calls[0])
    roles = [role for role, _ in messages_of(body)]
    expect(roles == ["system", "user"], "a system and a user message", repr(roles), MEND, calls[0])
    tools = {tool["function"]["name"] for tool in body.get("tools", [])}
    expect({"bash", "read"} <= tools, "tools, among them bash and read", repr(tools), MEND, calls[0])


@pytest.mark.requirement("OS-TURN-5")
def test_a_second_turn_holds_the_first(
    opencode: Opencode, script: Script, journal: JournalReader, nonce: Callable[[str], str]
) -> None:
    """User, assistant, user."""
    script.answer("answers", Answer(nonce("said")), Answer("ok"), nonce=nonce("one"))
    session = opencode.session()
    opencode.message("one", session, nonce("one"))
    reply = opencode.message("two", session, nonce("two"))
    calls = calls_with(journal, "calls", nonce("two"))
    told = messages_of(calls[-1].request.json())[1:] if calls else []
    wanted = [("user", nonce("one")), ("assistant", nonce("said")), ("user", nonce("two"))]
    expect(told == wanted, "the first turn, then the second prompt", repr(told), MEND, reply)


@pytest.mark.requirement("OS-TURN-11")
@pytest.mark.parametrize("end", ["failed", "aborted"])
def test_a_session_goes_on_after_a_turn_that_did_not_end_well(
    opencode: Opencode, script: Script, journal: JournalReader, nonce: Callable[[str], str], end: str
) -> None:
    """With what was asked before, and of the aborted turn with what it had said."""
    bad = Answer(status=400, message="no") if end == "failed" else Answer("half of it", fault="hang_after_text")
    script.answer("answers", bad, Answer(nonce("said")), nonce=nonce("one"))
    ear = opencode.listen()
    session = opencode.session()
    opencode.prompt("one", session, nonce("one"))
    if end == "aborted":
        ear.until("speaking", has("message.part.delta", session))
        opencode.abort("abort", session)
    ear.until("over", idle(session, 2))
    reply = opencode.message("two", session, nonce("two"))
    expect(nonce("said") in reply.text, "the answer to the second prompt", shown(reply), MEND, reply)
    calls = calls_with(journal, "calls", nonce("two"))
    told = messages_of(calls[-1].request.json())[1:] if calls else []
    before = [("user", nonce("one"))] + ([("assistant", "half of it")] if end == "aborted" else [])
    expect(told == [*before, ("user", nonce("two"))], "both prompts", repr(told), MEND, reply)


@pytest.mark.requirement("OS-TURN-6")
def test_sessions_do_not_mix(
    opencode: Opencode, script: Script, journal: JournalReader, nonce: Callable[[str], str]
) -> None:
    """Neither in the model calls nor in the events, while both turns are under way."""
    script.answer("one", Answer(nonce("said one"), gate=nonce("gate")), nonce=nonce("one"))
    script.answer("two", Answer(nonce("said two"), gate=nonce("gate")), nonce=nonce("two"))
    ear = opencode.listen()
    first, second = opencode.session("first"), opencode.session("second")
    opencode.prompt("one", first, nonce("one"))
    reply = opencode.prompt("two", second, nonce("two"))
    ear.until("both have begun", lambda told: all(named("message.part.delta", of(s, told)) for s in (first, second)))
    script.open("let both go on", nonce("gate"))
    ear.until("first", idle(first))
    events = ear.until("second", idle(second))
    both = [call for call in calls_with(journal, "calls", nonce("one")) if nonce("two").encode() in call.request.body]
    expect(not both, "no model call that holds both prompts", str(len(both)), MEND, both[0] if both else None)
    for session, said in ((first, "said one"), (second, "said two")):
        told = "".join(str(delta["delta"]) for delta in named("message.part.delta", of(session, events)))
        expect(told == nonce(said), "each session's own answer", repr(told), MEND, reply)


@pytest.mark.requirement("OS-TURN-7")
def test_line_separators_of_unicode_go_out_raw(opencode: Opencode, script: Script, nonce: Callable[[str], str]) -> None:
    """Who splits lines there breaks the event."""
    odd = "a\u0085b\u2028c\u2029d"
    script.answer("answer", Answer(odd, piece=20), nonce=nonce("asked"))
    ear = opencode.listen()
    session = opencode.session()
    reply = opencode.prompt("ask", session, nonce("asked"))
    events = of(session, ear.until("idle", idle(session)))
    told = "".join(str(delta["delta"]) for delta in named("message.part.delta", events))
    expect(told == odd, repr(odd), repr(told), MEND, reply)
    raw = ear.raw("raw")
    expect(odd.encode() in raw, "the characters themselves, not escaped", "else", MEND, reply)


@pytest.mark.requirement("OS-TURN-8")
def test_system_text_reaches_the_model(
    opencode: Opencode, script: Script, journal: JournalReader, nonce: Callable[[str], str]
) -> None:
    """In the system message."""
    script.answer("answer", Answer("ok"), nonce=nonce("asked"))
    reply = opencode.message("ask", opencode.session(), nonce("asked"), system=nonce("system"))
    calls = calls_with(journal, "calls", nonce("asked"))
    system = "".join(text for role, text in messages_of(calls[-1].request.json()) if role == "system") if calls else ""
    expect(nonce("system") in system, "the prompt's system text", system[-200:], MEND, reply)


@pytest.mark.requirement("OS-TURN-9")
@pytest.mark.parametrize("how", ["prompt", "session"])
def test_tools_that_are_off_are_not_offered(
    opencode: Opencode, script: Script, journal: JournalReader, nonce: Callable[[str], str], how: str
) -> None:
    """By the prompt's tools, or by the session's permission."""
    script.answer("answer", Answer("ok"), nonce=nonce("asked"))
    session = opencode.session(permission=ALL_DENIED if how == "session" else [])
    off = {"tools": {"*": False}} if how == "prompt" else {}
    reply = opencode.call("ask", "POST", f"/session/{session}/message", prompt(nonce("asked"), **off))
    calls = calls_with(journal, "calls", nonce("asked"))
    tools = [call.request.json().get("tools") for call in calls]
    expect(tools == [None], "one model call, without tools", beginning(repr(tools)), MEND, reply)


@pytest.mark.requirement("OS-TURN-10")
def test_a_session_without_a_title_gets_one(
    opencode: Opencode, script: Script, journal: JournalReader, nonce: Callable[[str], str]
) -> None:
    """By a second model call, without tools."""
    script.answer("answer", Answer("ok"), nonce=nonce("asked"))
    ear = opencode.listen()
    session = session_in(opencode.call("create", "POST", "/session", {}))
    reply = opencode.prompt("ask", session, nonce("asked"))
    ear.until("idle", idle(session))

    def titled(events: list[Event]) -> bool:
        return any(p["info"]["title"] == "A title" for p in named("session.updated", of(session, events)))

    events = ear.until("titled", titled, TITLED_SECONDS)
    expect(titled(events), "the title that the model gave", "none", MEND, reply)
    calls = calls_with(journal, "calls", nonce("asked"))
    counts = sorted(len(call.request.json().get("tools", [])) > 0 for call in calls)
    expect(counts == [False, True], "a call with tools and one without", repr(counts), MEND, reply)
    expect(has("session.idle", session)(events), "an idle session", "a busy one", MEND, reply)


@pytest.mark.requirement("OS-PARTS-1")
def test_a_prompts_parts_reach_the_model_as_parts(
    opencode: Opencode, journal: JournalReader, nonce: Callable[[str], str]
) -> None:
    """In their order, a file's text among them, without what is to be ignored."""
    told = [{"type": "text", "text": nonce(name)} for name in ("first", "second")]
    held = base64.b64encode(nonce("held").encode()).decode()
    file = {"type": "file", "mime": "text/plain", "filename": "held.txt", "url": f"data:text/plain;base64,{held}"}
    body = {"parts": [*told, {"type": "text", "text": nonce("left out"), "ignored": True}, file]}
    reply = opencode.message("ask", opencode.session(), "", **body)
    calls = calls_with(journal, "calls", nonce("first"))
    content = next(m["content"] for m in calls[-1].request.json()["messages"] if m["role"] == "user") if calls else []
    expect(content[:2] == told, "both texts, as parts", repr(content), "pass each text on as a part", reply)
    expect(nonce("left out") not in str(content), "no ignored text", repr(content), "leave it out", reply)
    last = content[-1:]
    expect(last == [{"type": "text", "text": nonce("held")}], "the file's text", repr(last), "read it", reply)
