"""Opencode servers that are broken in who may ask, in their routes, their sessions or their event streams."""

from __future__ import annotations

from typing import Any

from harness.exchange import Request
from harness.fakes.opencode.answers import Answer, json_answer, page
from harness.fakes.opencode.behaviour import Behaviour, Event
from harness.mutants.mutant import Mutant, changing
from harness.mutants.opencode_changes import (
    Body,
    Told,
    on,
    status_for,
    to,
    with_properties,
)


def _changes(request: Request) -> bool:
    return request.method != "GET"


def _has_token(request: Request) -> bool:
    return request.method == "OPTIONS" or "auth_token=" in request.target


def _finished(info: Body) -> Body:
    return {"finish": "stop", **info} if info["role"] == "assistant" else info


def _without_id(event: Event) -> Told:
    return ({key: value for key, value in event.items() if key != "id"},)


def _orphan(event: Event) -> Told:
    info = {key: value for key, value in event["properties"]["info"].items() if key != "parentID"}
    return (with_properties(event, info=info),)


def _json_404(request: Request, answer: Answer) -> Answer:
    html = request.method != "HEAD" and ("content-type", "text/html") in answer.headers
    return json_answer({"message": "no such route"}, 404) if html else answer


def _page(_request: Request, _answer: Answer, _body: Any) -> Answer:
    return page()


def _without_route(_request: Request, _answer: Answer, body: Any) -> Answer:
    return json_answer({**body, "paths": {p: r for p, r in body["paths"].items() if not p.endswith("/abort")}})


def _without_slug(_request: Request, answer: Answer, body: Any) -> Answer:
    if answer.status != 200:
        return answer
    return json_answer({key: value for key, value in body.items() if key != "slug"})


def _page_for_200(_request: Request, answer: Answer, _body: Any) -> Answer:
    return page() if answer.status == 200 else answer


def _none_unasked(request: Request, answer: Answer, _body: Any) -> Answer:
    return answer if "?" in request.target else json_answer([])


def _ghost(request: Request, answer: Answer, _body: Any) -> Answer:
    known = not request.path.endswith(("/ses_x", "/nonsense"))
    return json_answer({"id": "ses_ghost"}) if answer.status == 404 and known else answer


def _body_needed(request: Request, answer: Answer, _body: Any) -> Answer:
    return answer if request.body else json_answer({"_tag": "BadRequest"}, 400)


def _without_models(_request: Request, _answer: Answer, body: Any) -> Answer:
    return json_answer({**body, "providers": [{**provider, "models": {}} for provider in body["providers"]]})


def _own_alone(_request: Request, _answer: Answer, body: Any) -> Answer:
    return json_answer([agent for agent in body if agent["native"]])


def _elsewhere(_request: Request, _answer: Answer, body: Any) -> Answer:
    return json_answer({**body, "directory": body["home"]})


SURFACE: tuple[Mutant[Behaviour], ...] = (
    changing("no_password", "lets everybody in", "OS-AUTH-1", "OS-AUTH-2", "OS-AUTH-3", open_to_all=lambda _r: True),
    changing("reading_guarded", "wants the password of GET alone", "OS-AUTH-1", open_to_all=_changes),
    changing("preflight_401", "wants the password of OPTIONS too", "OS-AUTH-3", open_to_all=lambda _request: False),
    changing("any_token", "lets in whoever has any auth_token", "OS-AUTH-3", open_to_all=_has_token),
    changing(
        "options_page",
        "answers OPTIONS with the page",
        "OS-AUTH-3",
        "OS-SURFACE-3",
        answer=to("OPTIONS", "/.*", _page),
    ),
    changing(
        "unhealthy",
        "says that it is not healthy",
        "OS-SURFACE-1",
        answer=to("GET", "/global/health", lambda _r, _a, body: json_answer({**body, "healthy": False})),
    ),
    changing("abort_undocumented", "leaves abort out", "OS-SURFACE-2", answer=to("GET", "/doc", _without_route)),
    changing("models_untold", "tells no models", "OS-CONFIG-3", answer=to("GET", "/config/providers", _without_models)),
    changing("agents_untold", "tells its own agents alone", "OS-CONFIG-3", answer=to("GET", "/agent", _own_alone)),
    changing("folder_untold", "tells its home for a folder", "OS-CONFIG-3", answer=to("GET", "/path", _elsewhere)),
    changing("json_404", "answers 404 for unknown paths", "OS-SURFACE-3", answer=_json_404),
    changing("no_slug", "makes sessions without slug", "OS-SESSION-1", answer=to("POST", "/session", _without_slug)),
    changing("empty_list", "lists no session", "OS-SESSION-2", answer=to("GET", "/session", _none_unasked)),
    changing(
        "malformed_404",
        "answers 404 for an id that is none",
        "OS-SESSION-3",
        answer=to("GET", "/session/nonsense.*", status_for(500, 404)),
    ),
    changing(
        "children_of_nobody",
        "lists children of a session that there is not",
        "OS-SESSION-3",
        answer=to("GET", "/session/ses_x/children", lambda *_: json_answer([])),
    ),
    changing(
        "nothing_deleted",
        "deletes what there is not",
        "OS-SESSION-3",
        answer=to("DELETE", "/session/ses_x", lambda *_: json_answer(True)),
    ),
    changing("unchangeable", "changes no session", "OS-SESSION-7", answer=to("PATCH", "/session/[^/]+", _page_for_200)),
    changing("ghost", "still reads a deleted session", "OS-SESSION-4", answer=to("GET", "/session/[^/]+", _ghost)),
    changing(
        "childless",
        "lists no children",
        "OS-SESSION-5",
        answer=to("GET", "/session/ses_.{20,}/children", lambda *_: json_answer([])),
    ),
    changing(
        "session_422",
        "refuses sessions with 422",
        "OS-SESSION-6",
        answer=to("POST", "/session", status_for(400, 422)),
    ),
    changing("body_needed", "wants a body for a session", "OS-SESSION-6", answer=to("POST", "/session", _body_needed)),
    changing("username_ignored", "wants its usual user", "OS-AUTH-2", obeys_username=False),
    changing("deaf_to_sigterm", "goes on at SIGTERM", "OS-STOP-1", ends_at_sigterm=False),
    changing("tidy_restart", "finishes what a restart cut off", "OS-STOP-2", keeps=_finished),
    changing("event_without_id", "leaves event ids out", "OS-EVENT-1", event=_without_id),
    changing("no_heartbeat", "sends no heartbeat", "OS-EVENT-2", heartbeat=1e6),
    changing("one_directory", "tells everybody everything", "OS-EVENT-3", per_directory=False),
    changing("replays", "tells what was before", "OS-EVENT-4", replays=True),
    changing("no_envelope", "tells events of all bare", "OS-EVENT-5", envelope=lambda _directory, event: event),
    changing("orphan", "does not name the parent", "OS-CHILD-1", event=on("session.created", _orphan)),
)
