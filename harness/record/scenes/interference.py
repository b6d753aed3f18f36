"""Turns that somebody interferes with."""

from __future__ import annotations

from harness.fakes.model.script import Answer
from harness.record.scenario import HALF, HANG, is_delta, is_status, scenario
from harness.record.stage import MODEL, Stage


@scenario
def abort(stage: Stage) -> None:
    """Abort of a turn whose model is silent, and of one in the middle of its text."""
    heard = stage.listen()
    for count, (word, answer) in enumerate((("~hang~", HANG), ("~half~", HALF)), 1):
        session = stage.session()
        stage.model_says(answer, to=word)
        stage.prompt(session, word)
        stage.await_model_calls(count)
        if answer is HALF:
            stage.wait(heard, is_delta, 2)
        stage.call("GET", "/session/status")
        stage.call("POST", f"/session/{session}/abort")
        stage.idle(heard, session)
        stage.call("GET", "/session/status")
        stage.call("GET", f"/session/{session}/message")


@scenario
def abort_nothing(stage: Stage) -> None:
    """Abort of sessions that have no turn, or do not exist."""
    heard = stage.listen()
    session = stage.session()
    for target in (session, "ses_x", "nonsense"):
        stage.call("POST", f"/session/{target}/abort")
    stage.quiet(heard)


@scenario
def abort_retry(stage: Stage) -> None:
    """Abort while waiting to try again."""
    heard = stage.listen()
    session = stage.session()
    stage.model_says(Answer(status=500, message="boom", headers=(("retry-after", "20"),)))
    stage.prompt(session, "hello")
    stage.wait(heard, is_status("retry"))
    stage.call("GET", "/session/status")
    stage.call("POST", f"/session/{session}/abort")
    stage.idle(heard, session)
    stage.call("GET", f"/session/{session}/message")


@scenario
def abort_at_once(stage: Stage) -> None:
    """Abort right behind the prompt."""
    heard = stage.listen()
    session = stage.session()
    stage.model_says(HANG)
    stage.prompt(session, "hello")
    stage.call("POST", f"/session/{session}/abort")
    stage.idle(heard, session)
    stage.quiet(heard, 2.5)


@scenario
def abort_synchronous(stage: Stage) -> None:
    """Abort of a turn that the synchronous route waits for."""
    heard = stage.listen()
    session = stage.session()
    stage.model_says(HANG)
    body = {"model": MODEL, "parts": [{"type": "text", "text": "hello"}]}
    asked = stage.call_beside("POST", f"/session/{session}/message", body)
    stage.await_model_calls(1)
    stage.call("POST", f"/session/{session}/abort")
    stage.idle(heard, session)
    asked()


@scenario
def leave_synchronous(stage: Stage) -> None:
    """A client that leaves the synchronous route does not end the turn."""
    heard = stage.listen()
    session = stage.session()
    stage.model_says(Answer("a slow answer", piece=2, pause=0.1))
    stage.leave_after(
        0.2, "POST", f"/session/{session}/message", {"model": MODEL, "parts": [{"type": "text", "text": "x"}]}
    )
    stage.idle(heard, session)


@scenario
def busy(stage: Stage) -> None:
    """A prompt while the session is busy is queued."""
    heard = stage.listen()
    session = stage.session()
    stage.model_says(Answer("a slow answer", piece=7, pause=1.0), Answer("the second"))
    stage.prompt(session, "one")
    stage.wait(heard, is_delta)
    stage.prompt(session, "two")
    stage.idle(heard, session)
    stage.call("GET", f"/session/{session}/message")


@scenario
def delete_busy(stage: Stage) -> None:
    """A busy session is deleted."""
    heard = stage.listen()
    session = stage.session()
    stage.model_says(HANG)
    stage.prompt(session, "hello")
    stage.await_model_calls(1)
    stage.call("DELETE", f"/session/{session}")
    stage.quiet(heard, 2.5)
    stage.call("GET", "/session/status")
