"""The server as a process: its user, its end, and what it finds when it is started again."""

from __future__ import annotations

from harness.record.scenario import HANG, scenario
from harness.record.stage import OwnStage, Stage


@scenario
def user_name(stage: Stage) -> None:
    """OPENCODE_SERVER_USERNAME replaces the user `opencode`."""
    own = stage.own("named", "keeper")
    own.call("GET", "/global/health")
    own.call_as(("opencode", own.stack.password), "GET", "/global/health")


def _hanging(stage: Stage, name: str) -> tuple[OwnStage, str]:
    own = stage.own(name)
    session = own.session()
    own.model_says(HANG)
    own.prompt(session, "hello")
    own.await_model_calls(1)
    return own, session


@scenario
def sigterm(stage: Stage) -> None:
    """SIGTERM ends the server at once, in the middle of a turn."""
    _hanging(stage, "ended")[0].terminate()


@scenario
def restart(stage: Stage) -> None:
    """What a restarted server finds of a turn that was under way: a message with neither finish nor error."""
    own, session = _hanging(stage, "restarted")
    own.terminate()
    again = stage.own("restarted")
    again.call("GET", f"/session/{session}")
    again.call("GET", f"/session/{session}/message")
    again.call("GET", "/session/status")
