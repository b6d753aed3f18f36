"""The server without its socket: sessions, their turns, who listens, what is asked."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Mapping
from typing import Any

from harness.fakes.opencode.answers import not_found, unknown_error
from harness.fakes.opencode.attachments import spelled_out
from harness.fakes.opencode.behaviour import Behaviour
from harness.fakes.opencode.events import Bus
from harness.fakes.opencode.ids import new_id, now
from harness.fakes.opencode.questions import Questions
from harness.fakes.opencode.sessions import Message, Session
from harness.fakes.opencode.settings import Settings
from harness.fakes.opencode.store import Store
from harness.fakes.opencode.turn import Turn


class UnknownAgent(Exception):
    """A prompt names an agent that does not exist."""


class Core:
    """What all routes share. Lives on one event loop."""

    def __init__(self, settings: Settings, folder: str, behaviour: Behaviour, store: Store | None = None) -> None:
        self.settings, self.providers = settings, settings.providers
        self.folder, self.behaviour, self._store = folder, behaviour, store
        self.bus = Bus(behaviour)
        self.questions = Questions(behaviour.asks_per_directory)
        self.sessions: dict[str, Session] = store.read() if store is not None else {}
        self.turns: dict[str, Turn] = {}
        self.jobs: dict[str, Turn] = {}
        """The turns that a task tool waits for, by session."""
        self.tasks: set[asyncio.Task[Any]] = set()

    async def close(self) -> None:
        """End every turn without a word, as a server that is killed."""
        for task in list(self.tasks):
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    def begin(self, coroutine: Any) -> asyncio.Task[Any]:
        """Run something beside the requests."""
        task = asyncio.get_running_loop().create_task(coroutine)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task

    # Sessions

    def session(self, id_: str) -> Session:
        """The session of that id; raises Refused as the routes answer."""
        if not id_.startswith("ses"):
            raise unknown_error()
        if id_ not in self.sessions:
            raise not_found(f"Session not found: {id_}")
        return self.sessions[id_]

    def create(self, directory: str, wanted: dict[str, Any]) -> Session:
        """A new session."""
        session = Session(directory, self.behaviour.version, wanted)
        self.sessions[session.id] = session
        self.emit(session, "session.created", info=session.shown())
        return session

    def delete(self, session: Session) -> None:
        """Remove a session with its children. A turn under way is not ended; it is not heard of any more."""
        for child in self.children(session):
            self.delete(child)
        self.emit(session, "session.deleted", info=session.shown())
        self.sessions.pop(session.id)
        if self._store is not None:
            self._store.remove(session)

    def children(self, session: Session) -> list[Session]:
        """The sessions whose parent it is."""
        return [other for other in self.sessions.values() if other.parent == session.id]

    # Events

    def emit(self, session: Session, kind: str, **properties: Any) -> None:
        """An event of a session; nothing of one that was deleted."""
        if session.id in self.sessions:
            self.bus.emit(session.directory, kind, {"sessionID": session.id, **properties})
            if self._store is not None:
                self._store.write(session)

    def emit_message(self, session: Session, message: Message) -> None:
        """Tell how a message stands."""
        self.emit(session, "message.updated", info=copy.deepcopy(message.info))

    def emit_part(self, session: Session, message: Message, part_id: str) -> None:
        """Tell how a part stands."""
        self.emit(session, "message.part.updated", part=copy.deepcopy(message.parts[part_id]), time=now())

    def emit_session(self, session: Session) -> None:
        """Tell how a session stands."""
        session.info["time"]["updated"] = now()
        self.emit(session, "session.updated", info=session.shown())

    def emit_idle(self, session: Session) -> None:
        """Tell that a session is idle, twice over: as a status, and as an event of its own."""
        self.emit(session, "session.status", status={"type": "idle"})
        self.emit(session, "session.idle")

    # Prompts

    def add_user_message(self, session: Session, body: Mapping[str, Any]) -> Message:
        """Take a prompt down; raises UnknownAgent."""
        name = body.get("agent") or self.settings.default_agent
        agent = self.settings.agents.get(name)
        if agent is None:
            raise UnknownAgent(name)
        model = body.get("model") or agent.model or self._default_model(session)
        id_ = new_id("msg")
        info: dict[str, Any] = {
            "id": id_,
            "sessionID": session.id,
            "role": "user",
            "time": {"created": now()},
            "agent": name,
            "model": {"providerID": model["providerID"], "modelID": model["modelID"]},
        }
        info |= {key: body[key] for key in ("system", "tools") if body.get(key) is not None}
        if body.get("variant") is not None:
            info["model"]["variant"] = body["variant"]
        if body.get("tools"):
            session.restrict(body["tools"])
        message = Message(info)
        session.messages[id_] = message
        session.info["agent"] = name
        session.info["model"] = {"id": model["modelID"], "providerID": model["providerID"], "variant": "default"}
        self.emit_session(session)
        self.emit_message(session, message)
        for part in (spelled for told in body["parts"] for spelled in spelled_out(told)):
            part_id = new_id("prt")
            message.parts[part_id] = {**part, "id": part_id, "sessionID": session.id, "messageID": id_}
            self.emit_part(session, message, part_id)
        self.emit_session(session)
        return message

    def _default_model(self, session: Session) -> dict[str, str]:
        user = session.last("user")
        if user is not None:
            return dict(user.info["model"])
        if self.settings.model is not None:
            return self.settings.model
        provider, entry = next(iter(self.providers.items()))
        return {"providerID": provider, "modelID": sorted(entry.models)[0]}

    def run(self, session: Session) -> Turn:
        """The session's turn under way, or a new one; a prompt while it is busy is taken up by the turn under way."""
        turn = self.turns.get(session.id)
        if turn is None:
            turn = self.turns[session.id] = Turn(self, session)
            turn.task = self.begin(turn.run())
        return turn

    async def abort(self, session_id: str) -> None:
        """End a session's turn; one that has none, or does not exist, is told to be idle all the same.

        What its task tools wait for is ended first: a turn that has its tools given up takes its time for that, in
        which the session's own turn goes on.
        """
        if not session_id.startswith("ses"):
            raise unknown_error()
        await self.abort_jobs(session_id)
        turn = self.turns.get(session_id)
        if turn is not None:
            await turn.abort()
        elif session_id in self.sessions:
            self.emit_idle(self.sessions[session_id])
        else:
            self.bus.emit(self.folder, "session.status", {"sessionID": session_id, "status": {"type": "idle"}})
            self.bus.emit(self.folder, "session.idle", {"sessionID": session_id})

    async def abort_jobs(self, session_id: str) -> None:
        """End the turns that a task tool waits for, of the session and of its children."""
        for job in list(self.jobs.values()):
            if self.behaviour.aborts_children and session_id in (job.session.id, job.session.parent):
                await job.abort()

    def statuses(self, directory: str) -> dict[str, Any]:
        """The busy sessions of a directory."""
        here = [turn for turn in self.turns.values() if turn.session.directory == directory]
        return {turn.session.id: turn.status for turn in here if not turn.aborted}
