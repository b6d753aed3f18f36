"""What a turn comes to when the model server fails."""

from __future__ import annotations

from harness.fakes.model.script import Answer, Fault
from harness.record.scenario import HANG, OVERFLOW, is_event, is_status, scenario, turn_of
from harness.record.stage import MODEL, Stage


@scenario
def retry(stage: Stage) -> None:
    """A server error that would end at the seventh call: given up before, or not."""
    bad = Answer(status=500, message="boom", headers=(("retry-after", "1"),))
    turn_of(stage, *[bad] * 6, Answer("the seventh"))


@scenario
def retry_by_type(stage: Stage) -> None:
    """A 400 and a 401 whose error says that it is the server's."""
    heard = stage.listen()
    for status in (400, 401):
        session = stage.session()
        bad = Answer(status=status, message="boom", error_type="server_error", headers=(("retry-after", "1"),))
        stage.model_says(bad, Answer("the second"), to=f"~{status}~")
        stage.prompt(session, f"~{status}~")
        stage.idle(heard, session)


@scenario
def retry_mended(stage: Stage) -> None:
    """A rate limit and a gateway error that end after one retry."""
    heard = stage.listen()
    for status in (429, 503):
        session = stage.session()
        bad = Answer(status=status, message="slow down", headers=(("retry-after", "1"),))
        stage.model_says(bad, Answer("mended"), to=f"~{status}~")
        stage.prompt(session, f"~{status}~")
        stage.idle(heard, session)


@scenario
def refused(stage: Stage) -> None:
    """Refusals that are not retried."""
    heard = stage.listen()
    for status in (400, 401, 403, 404, 422):
        session = stage.session()
        stage.model_says(Answer(status=status, message="no"), to=f"~{status}~")
        stage.prompt(session, f"~{status}~")
        stage.idle(heard, session)


@scenario
def retry_waits(stage: Stage) -> None:
    """The waits between retries."""
    heard = stage.listen()
    session = stage.session()
    stage.model_says(Answer(status=500, message="boom"))
    stage.prompt(session, "hello")
    stage.wait(heard, is_status("retry"), 3)
    stage.call("POST", f"/session/{session}/abort")
    stage.idle(heard, session)


@scenario
def cut(stage: Stage) -> None:
    """A connection that breaks off in the middle of the text, then an answer."""
    faults: tuple[Fault, ...] = ("cut", "reset")
    for fault in faults:
        turn_of(stage, Answer("half of an", fault=fault), Answer("whole"))


@scenario
def error_chunk(stage: Stage) -> None:
    """An error chunk after some text, then an answer."""
    turn_of(stage, Answer("half of an", fault="error_chunk", message="overloaded"), Answer("whole"))


@scenario
def bad_chunk(stage: Stage) -> None:
    """An event that is not JSON."""
    turn_of(stage, Answer("half of an", fault="bad_chunk"))


@scenario
def no_done(stage: Stage) -> None:
    """A stream without [DONE]."""
    turn_of(stage, Answer("whole", fault="no_done"))


@scenario
def overflow(stage: Stage) -> None:
    """A context overflow that compaction does not mend."""
    heard = stage.listen()
    session = stage.session()
    stage.model_says(OVERFLOW, summary=OVERFLOW)
    stage.prompt(session, "hello")
    stage.idle(heard, session)
    stage.call("GET", f"/session/{session}/message")


@scenario
def overflow_again(stage: Stage) -> None:
    """A context overflow that comes again after each compaction: compacted without end, until aborted."""
    heard = stage.listen()
    session = stage.session()
    stage.model_says(OVERFLOW, OVERFLOW, HANG)
    stage.prompt(session, "hello")
    stage.await_model_calls(5, or_idle=(heard, session))
    stage.quiet(heard)
    stage.call("POST", f"/session/{session}/abort")
    stage.idle(heard, session)


@scenario
def overflow_mended(stage: Stage) -> None:
    """A context overflow that compaction mends."""
    turn_of(stage, OVERFLOW, Answer("final answer"))


@scenario
def endless(stage: Stage) -> None:
    """No finish reason: asked again without end, until aborted."""
    heard = stage.listen()
    session = stage.session()
    stage.model_says(Answer("again", finish=None), Answer("again", finish=None), Answer("again", finish=None), HANG)
    stage.prompt(session, "hello")
    stage.await_model_calls(4, or_idle=(heard, session))
    stage.quiet(heard)
    stage.call("POST", f"/session/{session}/abort")
    stage.idle(heard, session)


@scenario
def endless_by_reason(stage: Stage) -> None:
    """Finish reasons that are none of a well end: asked again without end, until aborted."""
    heard = stage.listen()
    for reason in ("error", "eos", "tool_calls"):
        session = stage.session()
        bad = Answer("again", finish=reason)
        stage.model_says(bad, bad, HANG, to=f"~{reason}~")
        before = len(stage.model_calls())
        stage.prompt(session, f"~{reason}~")
        stage.await_model_calls(before + 3, or_idle=(heard, session))
        stage.quiet(heard)
        stage.call("POST", f"/session/{session}/abort")
        stage.idle(heard, session)


@scenario
def silence(stage: Stage) -> None:
    """A model that never answers: nothing but heartbeats."""
    heard = stage.listen()
    session = stage.session()
    stage.model_says(HANG)
    stage.prompt(session, "hello")
    stage.wait(heard, is_event("server.heartbeat"), 2)
    stage.call("GET", "/session/status")
    stage.call("POST", f"/session/{session}/abort")
    stage.idle(heard, session)


@scenario
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


@scenario
def unknown_agent(stage: Stage) -> None:
    """An agent that is not there."""
    heard = stage.listen()
    session = stage.session()
    stage.prompt(session, "hello", agent="nobody")
    stage.quiet(heard, 2.5)
    body = {"model": MODEL, "agent": "nobody", "parts": [{"type": "text", "text": "hello"}]}
    stage.call("POST", f"/session/{session}/message", body)
    stage.quiet(heard, 2.5)


@scenario
def synchronous_failure(stage: Stage) -> None:
    """The synchronous route when the model fails."""
    heard = stage.listen()
    session = stage.session()
    stage.model_says(Answer(status=400, message="no"))
    stage.call("POST", f"/session/{session}/message", {"model": MODEL, "parts": [{"type": "text", "text": "hello"}]})
    stage.idle(heard, session)
