"""What is done to an opencode server for a recording: one scenario per fact, each in sessions of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from harness.fakes.model.script import Answer, Fault, ToolCall
from harness.record.stage import MODEL, Event, Stage

Play = Callable[[Stage], None]

OVERFLOW = Answer(
    status=400,
    message="This model's maximum context length is 8192 tokens. However, you requested 10000 tokens "
    "(9000 in the messages, 1000 in the completion). Please reduce the length of the messages or completion.",
)
_HANG = Answer(fault="hang")
_HALF = Answer("half of an answer", fault="hang_after_text")
_WITH_BODY = ("POST", "PUT")
ASKING = [{"permission": "*", "pattern": "*", "action": "ask"}]


@dataclass(frozen=True)
class Scenario:
    """A named row of what is recorded."""

    name: str
    about: str
    play: Play


_SCENARIOS: list[Scenario] = []


def scenarios() -> tuple[Scenario, ...]:
    """All scenarios, in the order in which they are recorded."""
    return tuple(_SCENARIOS)


def _scenario(play: Play) -> Play:
    _SCENARIOS.append(Scenario(play.__name__, str(play.__doc__).removesuffix("."), play))
    return play


def _is(kind: str, session: str | None = None) -> Callable[[Event], bool]:
    return lambda e: e["type"] == kind and (session is None or e["properties"].get("sessionID") == session)


def _is_status(status: str) -> Callable[[Event], bool]:
    return lambda e: e["type"] == "session.status" and e["properties"]["status"]["type"] == status


def _is_delta(event: Event) -> bool:
    return bool(event["type"] == "message.part.delta")


def _turn(stage: Stage, *answers: Answer, text: str = "hello", listing: bool = True) -> str:
    heard = stage.listen()
    session = stage.session()
    stage.model_says(*answers)
    stage.prompt(session, text)
    stage.idle(heard, session)
    if listing:
        stage.call("GET", f"/session/{session}/message")
    return session


# The surface


@_scenario
def authentication(stage: Stage) -> None:
    """HTTP Basic is wanted on every route."""
    for credentials in (None, ("opencode", "wrong"), ("other", stage.stack.password)):
        for target in ("/global/health", "/doc", "/event", "/session", "/nothing"):
            stage.call_as(credentials, "GET", target)
    stage.call_as(None, "POST", "/session", b"{")


@_scenario
def surface(stage: Stage) -> None:
    """Health, and the web application under every unknown path."""
    stage.call("GET", "/global/health")
    for method, target in (("GET", "/nothing"), ("GET", "/session/ses_x/nothing"), ("GET", "/")):
        stage.call(method, target)
    for method, target in (("POST", "/nothing"), ("PUT", "/session"), ("DELETE", "/event"), ("OPTIONS", "/session")):
        stage.call(method, target, {} if method in _WITH_BODY else None)


@_scenario
def doc(stage: Stage) -> None:
    """The document of the routes."""
    stage.call("GET", "/doc")


@_scenario
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


@_scenario
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


@_scenario
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


@_scenario
def prompt_accepted(stage: Stage) -> None:
    """What prompt_async accepts: no parts, no reply wanted, and keys that it does not know."""
    heard = stage.listen()
    bodies: tuple[dict[str, Any], ...] = ({"parts": []}, {"noReply": True}, {"nonsense": 1})
    for body in bodies:
        session = stage.session()
        stage.prompt(session, "hello", **body)
        stage.quiet(heard, 2.5)
        stage.call("GET", f"/session/{session}/message")


# Turns


@_scenario
def turn(stage: Stage) -> None:
    """A normal turn."""
    _turn(stage, Answer("Hello, this is an answer of several pieces."))


@_scenario
def turn_synchronous(stage: Stage) -> None:
    """A turn by the synchronous route."""
    heard = stage.listen()
    session = stage.session()
    stage.model_says(Answer("Hello, this is an answer."))
    body = {"model": MODEL, "parts": [{"type": "text", "text": "hello"}]}
    reply = stage.call("POST", f"/session/{session}/message", body)
    stage.idle(heard, session)
    stage.call("GET", f"/session/{session}/message/{reply.json()['info']['id']}")
    stage.call("GET", f"/session/{session}/message?limit=1")
    stage.call("GET", f"/session/{session}")


@_scenario
def turn_twice(stage: Stage) -> None:
    """Two turns in a session: the second model call holds the first."""
    heard = stage.listen()
    session = stage.session()
    stage.model_says(Answer("first"), Answer("second"))
    for count, text in enumerate(("one", "two"), 1):
        stage.prompt(session, text)
        stage.idle(heard, session, count)


@_scenario
def turn_options(stage: Stage) -> None:
    """System text, tools switched off."""
    heard = stage.listen()
    for body in ({"system": "Speak plainly."}, {"tools": {"*": False}}, {"agent": "plan"}, {"variant": "x"}):
        session = stage.session()
        stage.prompt(session, "hello", **body)
        stage.idle(heard, session)
    session = stage.session(permission=[{"permission": "*", "pattern": "*", "action": "deny"}])
    stage.prompt(session, "hello")
    stage.idle(heard, session)


@_scenario
def title(stage: Stage) -> None:
    """A session without a title has one made by the model."""
    heard = stage.listen()
    session = str(stage.call("POST", "/session", {}).json()["id"])
    stage.model_says(Answer("answer"))
    stage.prompt(session, "hello")
    stage.idle(heard, session)
    stage.quiet(heard, 2.5)
    stage.call("GET", f"/session/{session}")


@_scenario
def text_parts(stage: Stage) -> None:
    """Several text parts, and a part that is left out."""
    heard = stage.listen()
    session = stage.session()
    parts = [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
    stage.prompt(session, "", parts=parts)
    stage.idle(heard, session)


@_scenario
def reasoning(stage: Stage) -> None:
    """Reasoning, in either field."""
    heard = stage.listen()
    for name in ("reasoning_content", "reasoning"):
        session = stage.session()
        stage.model_says(
            Answer("The answer.", reasoning="Let me think about it.", reasoning_field=name), to=f"~{name}~"
        )
        stage.prompt(session, f"~{name}~")
        stage.idle(heard, session)


@_scenario
def empty_prompt(stage: Stage) -> None:
    """Empty user text, and white space."""
    heard = stage.listen()
    for text in ("", "   "):
        session = stage.session()
        stage.prompt(session, text)
        stage.idle(heard, session)


@_scenario
def empty_completion(stage: Stage) -> None:
    """An empty completion that stopped on length; one with no text that stopped."""
    heard = stage.listen()
    for finish in ("length", "stop", "content_filter"):
        session = stage.session()
        stage.model_says(Answer("", finish=finish), to=f"~{finish}~")
        stage.prompt(session, f"~{finish}~")
        stage.idle(heard, session)


@_scenario
def line_separators(stage: Stage) -> None:
    """Line separators of Unicode in the text."""
    _turn(stage, Answer("a\u0085b\u2028c\u2029d", piece=2), listing=False)


@_scenario
def tool(stage: Stage) -> None:
    """A tool that exists, and the step after it."""
    (stage.project_folder / "note.txt").write_text("a line\n", encoding="utf-8")
    call = ToolCall("read", '{"filePath": "' + stage.project + '/note.txt"}')
    _turn(stage, Answer("Let me look.", tool_calls=(call,), finish="tool_calls"), Answer("It says a line."))


@_scenario
def tool_bash(stage: Stage) -> None:
    """A shell command."""
    call = ToolCall("bash", '{"command": "echo hi", "description": "says hi"}')
    _turn(stage, Answer("", tool_calls=(call,), finish="tool_calls"), Answer("done"))


@_scenario
def tool_wrong(stage: Stage) -> None:
    """A tool that is not there, and arguments that are wrong."""
    heard = stage.listen()
    for call in (ToolCall("nonsense"), ToolCall("read", "{}"), ToolCall("read", "{")):
        session = stage.session()
        word = f"~{call.name} {call.arguments}~"
        stage.model_says(Answer("", tool_calls=(call,), finish="tool_calls"), Answer("done"), to=word)
        stage.prompt(session, word)
        stage.idle(heard, session)


# Failures of the model server


@_scenario
def retry(stage: Stage) -> None:
    """A server error that would end at the seventh call: given up before, or not."""
    bad = Answer(status=500, message="boom", headers=(("retry-after", "1"),))
    _turn(stage, *[bad] * 6, Answer("the seventh"))


@_scenario
def retry_by_type(stage: Stage) -> None:
    """A 400 and a 401 whose error says that it is the server's."""
    heard = stage.listen()
    for status in (400, 401):
        session = stage.session()
        bad = Answer(status=status, message="boom", error_type="server_error", headers=(("retry-after", "1"),))
        stage.model_says(bad, Answer("the second"), to=f"~{status}~")
        stage.prompt(session, f"~{status}~")
        stage.idle(heard, session)


@_scenario
def retry_mended(stage: Stage) -> None:
    """A rate limit and a gateway error that end after one retry."""
    heard = stage.listen()
    for status in (429, 503):
        session = stage.session()
        bad = Answer(status=status, message="slow down", headers=(("retry-after", "1"),))
        stage.model_says(bad, Answer("mended"), to=f"~{status}~")
        stage.prompt(session, f"~{status}~")
        stage.idle(heard, session)


@_scenario
def refused(stage: Stage) -> None:
    """Refusals that are not retried."""
    heard = stage.listen()
    for status in (400, 401, 403, 404, 422):
        session = stage.session()
        stage.model_says(Answer(status=status, message="no"), to=f"~{status}~")
        stage.prompt(session, f"~{status}~")
        stage.idle(heard, session)


@_scenario
def retry_waits(stage: Stage) -> None:
    """The waits between retries."""
    heard = stage.listen()
    session = stage.session()
    stage.model_says(Answer(status=500, message="boom"))
    stage.prompt(session, "hello")
    stage.wait(heard, _is_status("retry"), 3)
    stage.call("POST", f"/session/{session}/abort")
    stage.idle(heard, session)


@_scenario
def cut(stage: Stage) -> None:
    """A connection that breaks off in the middle of the text, then an answer."""
    faults: tuple[Fault, ...] = ("cut", "reset")
    for fault in faults:
        _turn(stage, Answer("half of an", fault=fault), Answer("whole"))


@_scenario
def error_chunk(stage: Stage) -> None:
    """An error chunk after some text, then an answer."""
    _turn(stage, Answer("half of an", fault="error_chunk", message="overloaded"), Answer("whole"))


@_scenario
def bad_chunk(stage: Stage) -> None:
    """An event that is not JSON."""
    _turn(stage, Answer("half of an", fault="bad_chunk"))


@_scenario
def no_done(stage: Stage) -> None:
    """A stream without [DONE]."""
    _turn(stage, Answer("whole", fault="no_done"))


@_scenario
def overflow(stage: Stage) -> None:
    """A context overflow that compaction does not mend."""
    heard = stage.listen()
    session = stage.session()
    stage.model_says(OVERFLOW, summary=OVERFLOW)
    stage.prompt(session, "hello")
    stage.idle(heard, session)
    stage.call("GET", f"/session/{session}/message")


@_scenario
def overflow_again(stage: Stage) -> None:
    """A context overflow that comes again after each compaction: compacted without end, until aborted."""
    heard = stage.listen()
    session = stage.session()
    stage.model_says(OVERFLOW, OVERFLOW, _HANG)
    stage.prompt(session, "hello")
    stage.await_model_calls(5, or_idle=(heard, session))
    stage.quiet(heard)
    stage.call("POST", f"/session/{session}/abort")
    stage.idle(heard, session)


@_scenario
def overflow_mended(stage: Stage) -> None:
    """A context overflow that compaction mends."""
    _turn(stage, OVERFLOW, Answer("final answer"))


@_scenario
def endless(stage: Stage) -> None:
    """No finish reason: asked again without end, until aborted."""
    heard = stage.listen()
    session = stage.session()
    stage.model_says(Answer("again", finish=None), Answer("again", finish=None), Answer("again", finish=None), _HANG)
    stage.prompt(session, "hello")
    stage.await_model_calls(4, or_idle=(heard, session))
    stage.quiet(heard)
    stage.call("POST", f"/session/{session}/abort")
    stage.idle(heard, session)


@_scenario
def silence(stage: Stage) -> None:
    """A model that never answers: nothing but heartbeats."""
    heard = stage.listen()
    session = stage.session()
    stage.model_says(_HANG)
    stage.prompt(session, "hello")
    stage.wait(heard, _is("server.heartbeat"), 2)
    stage.call("GET", "/session/status")
    stage.call("POST", f"/session/{session}/abort")
    stage.idle(heard, session)


@_scenario
def unknown_model(stage: Stage) -> None:
    """A model and a provider that are not configured."""
    heard = stage.listen()
    for model in ({"providerID": "litellm", "modelID": "nope"}, {"providerID": "nope", "modelID": "small-1"}):
        session = stage.session()
        stage.prompt(session, "hello", model=model)
        stage.idle(heard, session)
        stage.call("GET", f"/session/{session}/message")
        body = {"model": model, "parts": [{"type": "text", "text": "hello"}]}
        stage.call("POST", f"/session/{session}/message", body)
        stage.idle(heard, session, 2)


@_scenario
def unknown_agent(stage: Stage) -> None:
    """An agent that is not there."""
    heard = stage.listen()
    session = stage.session()
    stage.prompt(session, "hello", agent="nobody")
    stage.quiet(heard, 2.5)
    body = {"model": MODEL, "agent": "nobody", "parts": [{"type": "text", "text": "hello"}]}
    stage.call("POST", f"/session/{session}/message", body)
    stage.quiet(heard, 2.5)


@_scenario
def synchronous_failure(stage: Stage) -> None:
    """The synchronous route when the model fails."""
    heard = stage.listen()
    session = stage.session()
    stage.model_says(Answer(status=400, message="no"))
    stage.call("POST", f"/session/{session}/message", {"model": MODEL, "parts": [{"type": "text", "text": "hello"}]})
    stage.idle(heard, session)


# Abort, and other ways of interfering


@_scenario
def abort(stage: Stage) -> None:
    """Abort of a turn whose model is silent, and of one in the middle of its text."""
    heard = stage.listen()
    for count, (word, answer) in enumerate((("~hang~", _HANG), ("~half~", _HALF)), 1):
        session = stage.session()
        stage.model_says(answer, to=word)
        stage.prompt(session, word)
        stage.await_model_calls(count)
        if answer is _HALF:
            stage.wait(heard, _is_delta, 2)
        stage.call("GET", "/session/status")
        stage.call("POST", f"/session/{session}/abort")
        stage.idle(heard, session)
        stage.call("GET", "/session/status")
        stage.call("GET", f"/session/{session}/message")


@_scenario
def abort_nothing(stage: Stage) -> None:
    """Abort of sessions that have no turn, or do not exist."""
    heard = stage.listen()
    session = stage.session()
    for target in (session, "ses_x", "nonsense"):
        stage.call("POST", f"/session/{target}/abort")
    stage.quiet(heard)


@_scenario
def abort_retry(stage: Stage) -> None:
    """Abort while waiting to try again."""
    heard = stage.listen()
    session = stage.session()
    stage.model_says(Answer(status=500, message="boom", headers=(("retry-after", "20"),)))
    stage.prompt(session, "hello")
    stage.wait(heard, _is_status("retry"))
    stage.call("GET", "/session/status")
    stage.call("POST", f"/session/{session}/abort")
    stage.idle(heard, session)
    stage.call("GET", f"/session/{session}/message")


@_scenario
def abort_at_once(stage: Stage) -> None:
    """Abort right behind the prompt."""
    heard = stage.listen()
    session = stage.session()
    stage.model_says(_HANG)
    stage.prompt(session, "hello")
    stage.call("POST", f"/session/{session}/abort")
    stage.idle(heard, session)
    stage.quiet(heard, 2.5)


@_scenario
def abort_synchronous(stage: Stage) -> None:
    """Abort of a turn that the synchronous route waits for."""
    heard = stage.listen()
    session = stage.session()
    stage.model_says(_HANG)
    body = {"model": MODEL, "parts": [{"type": "text", "text": "hello"}]}
    asked = stage.call_beside("POST", f"/session/{session}/message", body)
    stage.await_model_calls(1)
    stage.call("POST", f"/session/{session}/abort")
    stage.idle(heard, session)
    asked()


@_scenario
def leave_synchronous(stage: Stage) -> None:
    """A client that leaves the synchronous route does not end the turn."""
    heard = stage.listen()
    session = stage.session()
    stage.model_says(Answer("a slow answer", piece=2, pause=0.1))
    stage.leave_after(
        0.2, "POST", f"/session/{session}/message", {"model": MODEL, "parts": [{"type": "text", "text": "x"}]}
    )
    stage.idle(heard, session)


@_scenario
def busy(stage: Stage) -> None:
    """A prompt while the session is busy is queued."""
    heard = stage.listen()
    session = stage.session()
    stage.model_says(Answer("a slow answer", piece=7, pause=1.0), Answer("the second"))
    stage.prompt(session, "one")
    stage.wait(heard, _is_delta)
    stage.prompt(session, "two")
    stage.idle(heard, session)
    stage.call("GET", f"/session/{session}/message")


@_scenario
def delete_busy(stage: Stage) -> None:
    """A busy session is deleted."""
    heard = stage.listen()
    session = stage.session()
    stage.model_says(_HANG)
    stage.prompt(session, "hello")
    stage.await_model_calls(1)
    stage.call("DELETE", f"/session/{session}")
    stage.quiet(heard, 2.5)
    stage.call("GET", "/session/status")


# Questions


def _asked(stage: Stage, heard_kind: str = "permission.asked") -> tuple[str, str]:
    heard = stage.listen()
    session = stage.session(permission=ASKING)
    call = ToolCall("bash", '{"command": "echo hi", "description": "says hi"}')
    stage.model_says(Answer("", tool_calls=(call,), finish="tool_calls"), Answer("done"))
    stage.prompt(session, "hello")
    stage.wait(heard, _is(heard_kind))
    stage.call("GET", "/permission")
    asked = next(e for e in stage.events(heard) if e["type"] == heard_kind)
    return session, str(asked["properties"]["id"])


@_scenario
def permission_once(stage: Stage) -> None:
    """A permission question that is answered with yes."""
    session, asked = _asked(stage)
    stage.call("POST", f"/permission/{asked}/reply", {"reply": "once"})
    stage.idle(stage.heard[0], session)
    stage.call("GET", "/permission")


@_scenario
def permission_rejected(stage: Stage) -> None:
    """A permission question that is answered with no."""
    session, asked = _asked(stage)
    stage.call("POST", f"/permission/{asked}/reply", {"reply": "reject"})
    stage.idle(stage.heard[0], session)
    stage.call("GET", "/permission")


@_scenario
def permission_rejected_with_message(stage: Stage) -> None:
    """A permission question that is answered with no, and why."""
    session, asked = _asked(stage)
    stage.call("POST", f"/permission/{asked}/reply", {"reply": "reject", "message": "nobody is here"})
    stage.idle(stage.heard[0], session)
    stage.call("GET", "/permission")


@_scenario
def permission_aborted(stage: Stage) -> None:
    """A permission question that stays open while the turn is aborted; wrong answers to it."""
    session, asked = _asked(stage)
    stage.call("POST", "/permission/per_x/reply", {"reply": "once"})
    stage.call("POST", f"/permission/{asked}/reply", {"reply": "perhaps"})
    stage.call("POST", f"/session/{session}/abort")
    stage.idle(stage.heard[0], session)
    stage.call("GET", "/permission")


@_scenario
def permission_outside(stage: Stage) -> None:
    """The default configuration asks before a read outside the folder."""
    heard = stage.listen()
    session = stage.session()
    call = ToolCall("read", '{"filePath": "/etc/hostname"}')
    stage.model_says(Answer("", tool_calls=(call,), finish="tool_calls"), Answer("done"))
    stage.prompt(session, "hello")
    stage.wait(heard, _is("permission.asked"))
    asked = next(e for e in stage.events(heard) if e["type"] == "permission.asked")
    stage.call("POST", f"/session/{session}/permissions/{asked['properties']['id']}", {"response": "reject"})
    stage.idle(heard, session)


_QUESTION = ToolCall(
    "question",
    '{"questions": [{"question": "Which?", "header": "Which", "options": [{"label": "A", "description": "a"}]}]}',
)


@_scenario
def question_rejected(stage: Stage) -> None:
    """A question of the agent that is rejected."""
    heard = stage.listen()
    session = stage.session()
    stage.model_says(Answer("", tool_calls=(_QUESTION,), finish="tool_calls"), Answer("done"))
    stage.prompt(session, "hello")
    stage.quiet(heard, 2.5)
    stage.call("GET", "/question")
    asked = [e for e in stage.events(heard) if e["type"] == "question.asked"]
    stage.call("POST", "/question/que_x/reject")
    if asked:
        stage.call("POST", f"/question/{asked[0]['properties']['id']}/reject")
    stage.idle(heard, session)
    stage.call("GET", "/question")


@_scenario
def question_answered(stage: Stage) -> None:
    """A question of the agent that is answered."""
    heard = stage.listen()
    session = stage.session()
    stage.model_says(Answer("", tool_calls=(_QUESTION,), finish="tool_calls"), Answer("done"))
    stage.prompt(session, "hello")
    stage.quiet(heard, 2.5)
    asked = [e for e in stage.events(heard) if e["type"] == "question.asked"]
    if asked:
        stage.call("POST", f"/question/{asked[0]['properties']['id']}/reply", {"answers": [["A"]]})
    stage.idle(heard, session)


# Who hears what


@_scenario
def directories(stage: Stage) -> None:
    """Events and status are per directory; a prompt and an abort work from any."""
    other = stage.project_folder.parent / "other"
    other.mkdir(exist_ok=True)
    here, there, everywhere = stage.listen(), stage.listen(f"/event?directory={other}"), stage.listen("/global/event")
    session = str(stage.call("POST", f"/session?directory={other}", {"title": "elsewhere"}).json()["id"])
    stage.model_says(_HALF)
    stage.prompt(session, "hello")
    stage.wait(there, _is_delta, 2)
    stage.call("GET", "/session/status")
    stage.call("GET", f"/session/status?directory={other}")
    stage.call("GET", "/session/status", headers={"x-opencode-directory": str(other)})
    stage.call("POST", f"/session/{session}/abort")
    stage.idle(there, session)
    stage.quiet(here)
    stage.quiet(everywhere)


@_scenario
def shared_stream(stage: Stage) -> None:
    """Two sessions at once share the stream; a late subscriber hears nothing of before."""
    early = stage.listen()
    first = stage.session()
    stage.model_says(Answer("one"), to="~first~")
    stage.model_says(Answer("two"), to="~second~")
    stage.prompt(first, "~first~")
    stage.idle(early, first)
    stage.listen()
    second = stage.session()
    stage.prompt(second, "~second~")
    stage.idle(early, second)


@_scenario
def child(stage: Stage) -> None:
    """A child session made by the task tool."""
    heard = stage.listen()
    session = stage.session()
    arguments = '{"description": "look", "prompt": "~child~", "subagent_type": "general"}'
    stage.model_says(Answer("of the child"), to="~child~")
    call = ToolCall("task", arguments)
    stage.model_says(Answer("", tool_calls=(call,), finish="tool_calls"), Answer("done"), to="~parent~")
    stage.prompt(session, "~parent~")
    stage.idle(heard, session)
    stage.call("GET", f"/session/{session}/children")


@_scenario
def broken_skill(stage: Stage) -> None:
    """A skill file that is broken: an error of no session in a turn that ends well."""
    folder = stage.project_folder.parent / "skilled"
    for name in ("skill", "skills"):
        skill = folder / ".opencode" / name / "bad"
        skill.mkdir(parents=True, exist_ok=True)
        (skill / "SKILL.md").write_text("---\nname: bad\ndescription: [\n---\nbody\n", encoding="utf-8")
    heard = stage.listen(f"/event?directory={folder}")
    session = str(stage.call("POST", f"/session?directory={folder}", {"title": "skilled"}).json()["id"])
    stage.model_says(Answer("well"))
    stage.prompt(session, "hello")
    stage.idle(heard, session)
