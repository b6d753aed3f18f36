"""The routes: from a request to an answer."""

from __future__ import annotations

import os
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote

from harness.exchange import Request, header, parse_json
from harness.fakes.opencode import catalogue
from harness.fakes.opencode.answers import (
    Answer,
    Refused,
    bad_tag,
    json_answer,
    not_found,
    page,
    unknown_error,
)
from harness.fakes.opencode.core import Core, UnknownAgent
from harness.fakes.opencode.doc import document
from harness.fakes.opencode.payload import (
    NOTHING,
    check_answers,
    check_change,
    check_id,
    check_limit,
    check_prompt,
    check_reply,
    is_session,
)
from harness.fakes.opencode.questions import Asked, Kind
from harness.fakes.opencode.sessions import Session
from harness.fakes.opencode.turn import UnknownModel

EVENT_PATHS = ("/event", "/global/event")


@dataclass(frozen=True)
class Call:
    """A request to a route: the directory that it is about, and the names in its path."""

    request: Request
    directory: str
    names: tuple[str, ...]

    def body(self) -> Any:
        """The body as JSON, NOTHING when there is none; raises Refused when it is not JSON."""
        if not self.request.body:
            return NOTHING
        value = parse_json(self.request.body)
        if value is None and self.request.body.strip() != b"null":
            raise unknown_error()
        return value


Handler = Callable[[Call], Awaitable[Answer]]


def directory_of(request: Request, default: str) -> str:
    """The directory that a request is about, by its header or query."""
    query = parse_qs(request.target.partition("?")[2])
    named = header(request.headers, "x-opencode-directory")
    wanted = query["directory"][0] if "directory" in query else unquote(named) if named else default
    return os.path.normpath(Path(default, wanted))


class Routes:
    """All routes of a core but the event streams."""

    def __init__(self, core: Core) -> None:
        self._core = core
        routes: tuple[tuple[str, str, Handler], ...] = (
            ("GET", "/doc", self._doc),
            ("GET", "/global/health", self._health),
            ("GET", "/config/providers", self._providers),
            ("GET", "/agent", self._agents),
            ("GET", "/path", self._path),
            ("GET", "/session", self._list),
            ("POST", "/session", self._create),
            ("GET", "/session/status", self._status),
            ("GET", "/session/{sessionID}", self._read),
            ("PATCH", "/session/{sessionID}", self._change),
            ("DELETE", "/session/{sessionID}", self._delete),
            ("GET", "/session/{sessionID}/children", self._children),
            ("GET", "/session/{sessionID}/message", self._messages),
            ("POST", "/session/{sessionID}/message", self._message),
            ("GET", "/session/{sessionID}/message/{messageID}", self._one_message),
            ("POST", "/session/{sessionID}/prompt_async", self._prompt),
            ("POST", "/session/{sessionID}/abort", self._abort),
            ("POST", "/session/{sessionID}/permissions/{permissionID}", self._permission_of_session),
            ("GET", "/permission", self._permissions),
            ("POST", "/permission/{requestID}/reply", self._permission_reply),
            ("GET", "/question", self._questions),
            ("POST", "/question/{requestID}/reply", self._question_reply),
            ("POST", "/question/{requestID}/reject", self._question_reject),
        )
        self._named = [(method, path) for method, path, _ in routes]
        self._routes = [(method, _pattern(path), handler) for method, path, handler in routes]

    async def answer(self, request: Request) -> Answer:
        """The answer to a request whose user is known."""
        for method, pattern, handler in self._routes:
            match = pattern.fullmatch(request.path)
            if match is not None and request.method == method:
                names = tuple(unquote(name) for name in match.groups())
                try:
                    return await handler(Call(request, directory_of(request, self._core.folder), names))
                except Refused as refused:
                    return refused.answer
                except (AttributeError, LookupError, TypeError, ValueError):  # at a body or a query of another shape
                    return unknown_error().answer
        return Answer(204) if request.method == "OPTIONS" else page()

    async def _doc(self, _call: Call) -> Answer:
        return json_answer(document(self._core.behaviour.version, [*self._named, *(("GET", p) for p in EVENT_PATHS)]))

    async def _health(self, _call: Call) -> Answer:
        return json_answer({"healthy": True, "version": self._core.behaviour.version})

    async def _providers(self, _call: Call) -> Answer:
        return json_answer(catalogue.providers(self._core.settings))

    async def _agents(self, _call: Call) -> Answer:
        return json_answer(catalogue.agents(self._core.settings))

    async def _path(self, call: Call) -> Answer:
        return json_answer(catalogue.path(Path.home(), call.directory))

    # Sessions

    async def _list(self, call: Call) -> Answer:
        """Those of the directory that the query names (a header does not count), or of all, the newest first."""
        query = parse_qs(call.request.target.partition("?")[2])
        word = query.get("search", [""])[0].lower()
        found = [
            session.shown()
            for session in reversed(self._core.sessions.values())
            if ("directory" not in query or session.directory == call.directory)
            and (query.get("roots") != ["true"] or session.parent is None)
            and word in str(session.info["title"]).lower()
        ]
        return json_answer(found[: int(query["limit"][0])] if "limit" in query else found)

    async def _create(self, call: Call) -> Answer:
        wanted = parse_json(call.request.body) if call.request.body else {}
        if not isinstance(wanted, dict) or not is_session(wanted):
            raise bad_tag()
        return json_answer(self._core.create(call.directory, wanted).shown())

    async def _read(self, call: Call) -> Answer:
        return json_answer(self._session(call).shown())

    async def _change(self, call: Call) -> Answer:
        change, session = check_change(call.body()), self._session(call)
        session.change(change)
        self._core.emit(session, "session.updated", info=session.shown())
        return json_answer(session.shown())

    async def _delete(self, call: Call) -> Answer:
        session = self._session(call)
        await self._core.abort_jobs(session.id)
        self._core.delete(session)
        return json_answer(True)

    async def _children(self, call: Call) -> Answer:
        return json_answer([child.shown() for child in self._core.children(self._session(call))])

    async def _status(self, call: Call) -> Answer:
        return json_answer(self._core.statuses(call.directory))

    def _session(self, call: Call) -> Session:
        return self._core.session(call.names[0])

    # Messages

    async def _messages(self, call: Call) -> Answer:
        session = self._session(call)
        given = parse_qs(call.request.target.partition("?")[2]).get("limit")
        limit = check_limit(given[0]) if given else 0
        return json_answer([message.shown() for message in session.messages.values()][-limit:])

    async def _one_message(self, call: Call) -> Answer:
        check_id("msg", call.names[1], "messageID", kind="Params")
        session = self._core.sessions.get(call.names[0])
        message = session.messages.get(call.names[1]) if session is not None else None
        if message is None:
            raise not_found(f"Message not found: {call.names[1]}")
        return json_answer(message.shown())

    async def _message(self, call: Call) -> Answer:
        session, body = self._asked(call)
        try:
            user = self._core.add_user_message(session, body)
            if self._wants_no_reply(body):
                return json_answer(user.shown())
            answer = await self._core.run(session).over()
        except UnknownAgent as unknown:
            self._tell_unknown_agent(session, unknown)
            raise unknown_error() from None
        except UnknownModel:
            raise unknown_error() from None
        return json_answer(answer.shown() if answer is not None else user.shown())

    async def _prompt(self, call: Call) -> Answer:
        session, body = self._asked(call)
        self._core.begin(self._drive(session, body))
        return Answer(204)

    def _asked(self, call: Call) -> tuple[Session, dict[str, Any]]:
        if not call.names[0].startswith("ses"):
            raise unknown_error()
        body = check_prompt(call.body())
        session = self._session(call)
        if session.id in self._core.turns and not self._core.behaviour.queues:
            raise Refused(json_answer({"name": "BusyError", "data": {"message": "the session is busy"}}, 409))
        return session, body

    def _wants_no_reply(self, body: dict[str, Any]) -> bool:
        return bool(body.get("noReply")) and self._core.behaviour.obeys_no_reply

    async def _drive(self, session: Session, body: dict[str, Any]) -> None:
        try:
            self._core.add_user_message(session, body)
            if not self._wants_no_reply(body):
                await self._core.run(session).over()
        except UnknownAgent as unknown:
            self._tell_unknown_agent(session, unknown)
            self._tell_error(session, "UnknownError: UnknownError")
        except UnknownModel as unknown:
            self._tell_error(session, f"ProviderModelNotFoundError: {unknown}")

    def _tell_unknown_agent(self, session: Session, unknown: UnknownAgent) -> None:
        known = ", ".join(self._core.settings.agents)
        self._tell_error(session, f'Agent not found: "{unknown}". Available agents: {known}')

    def _tell_error(self, session: Session, message: str) -> None:
        error = {"name": "UnknownError", "data": {"message": message}}
        self._core.emit(session, "session.error", error=error)

    async def _abort(self, call: Call) -> Answer:
        await self._core.abort(call.names[0])
        return json_answer(True)

    # Questions

    async def _permissions(self, call: Call) -> Answer:
        return json_answer(self._core.questions.listed("permission", call.directory))

    async def _questions(self, call: Call) -> Answer:
        return json_answer(self._core.questions.listed("question", call.directory))

    async def _permission_reply(self, call: Call) -> Answer:
        check_id("per", call.names[0], "requestID", kind="Params")
        body = check_reply(call.body(), "reply")
        asked = self._taken("permission", call.names[0], call.directory)
        return self._replied(asked, body)

    async def _permission_of_session(self, call: Call) -> Answer:
        check_id("per", call.names[1], "permissionID", kind="Params")
        body = check_reply(call.body(), "response")
        asked = self._taken("permission", call.names[1], None)
        return self._replied(asked, {"reply": body["response"]})

    def _replied(self, asked: Asked, body: dict[str, Any]) -> Answer:
        """Settle a permission, and with it what its session still asks for that follows from the reply."""
        reply, questions, session = body["reply"], self._core.questions, str(asked.listed["sessionID"])
        settled = [(asked, body)]
        if reply == "reject" and self._core.behaviour.refuses_all:
            settled += [(other, {"reply": reply}) for other in questions.take_rejected(session)]
        if reply == "always" and self._core.behaviour.remembers_always:
            questions.allow_always(asked)
            settled += [(other, {"reply": reply}) for other in questions.take_allowed(session, asked.directory)]
        for one, said in settled:
            replied = {"sessionID": session, "requestID": one.id, "reply": reply}
            self._core.bus.emit(one.directory, "permission.replied", replied)
            self._settle(one, said)
        return json_answer(True)

    async def _question_reply(self, call: Call) -> Answer:
        check_id("que", call.names[0], "requestID", kind="Params")
        answers = check_answers(call.body())
        asked = self._taken("question", call.names[0], call.directory)
        told = {"sessionID": asked.listed["sessionID"], "requestID": asked.id, "answers": answers}
        self._core.bus.emit(asked.directory, "question.replied", told)
        self._settle(asked, {"reply": "once", "answers": answers})
        return json_answer(True)

    async def _question_reject(self, call: Call) -> Answer:
        check_id("que", call.names[0], "requestID", kind="Params")
        asked = self._taken("question", call.names[0], call.directory)
        told = {"sessionID": asked.listed["sessionID"], "requestID": asked.id}
        self._core.bus.emit(asked.directory, "question.rejected", told)
        self._settle(asked, {"reply": "reject"})
        return json_answer(True)

    def _taken(self, kind: Kind, id_: str, directory: str | None) -> Asked:
        asked = self._core.questions.take(kind, id_, directory)
        if asked is None:
            name = kind.capitalize()
            told = {"_tag": f"{name}NotFoundError", "requestID": id_, "message": f"{name} request not found: {id_}"}
            raise Refused(json_answer(told, 404))
        return asked

    def _settle(self, asked: Asked, reply: dict[str, Any]) -> None:
        if not asked.answer.done():
            asked.answer.set_result(reply)


def _pattern(path: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\{\w+\}", "([^/]+)", path))
