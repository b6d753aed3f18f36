from __future__ import annotations

import json
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import openai
import pytest

from harness.reference.endpoint.app import MAX_BODY
from harness.reference.endpoint.driver import RECOVERY_SECONDS, abort_turn
from harness.reference.endpoint.opencode import Opencode
from harness.reference.endpoint.parts import Parts
from harness.reference.endpoint.turn import Turn
from harness.sse import encode, parse
from tests.reference.endpoint.conftest import OWNER, Start
from tests.reference.endpoint.events import (
    SESSION,
    answer,
    assistant,
    delta,
    error,
    event,
    idle,
    opened,
    status,
    text,
    turn,
    user,
)
from tests.reference.endpoint.opencode_stub import OpencodeStub

KEYS = "/api/agent-model-keys"
CHAT = "/v1/chat/completions"
USER = {"role": "user", "content": "hi"}
BEGUN = [user(), status("busy"), assistant("msg_a"), opened("msg_a", "prt_t")]
PARTIAL = [*BEGUN, delta("msg_a", "prt_t", "part of ")]


def _ask(client: httpx.Client, model: Any = "research", **fields: Any) -> httpx.Response:
    return client.post(CHAT, json={"model": model, "messages": [USER], **fields})


def _keys(client: httpx.Client) -> list[Any]:
    return list(client.get(KEYS, headers=OWNER).json()["data"])


def _error(answer: httpx.Response) -> dict[str, Any]:
    assert answer.headers["content-type"] == "application/json"
    envelope = answer.json()["error"]
    assert set(envelope) == {"message", "type", "code", "param"}
    return dict(envelope)


def _events(answer: httpx.Response) -> list[Any]:
    """The stream's events, its terminator as a string."""
    assert answer.headers["content-type"].startswith("text/event-stream")
    return [one.data if one.data == "[DONE]" else one.json() for one in parse(answer.content)]


@pytest.mark.parametrize("header", [None, "", "Bearer", "Bearer unknown", "Basic abc"])
@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/v1/models"), ("POST", CHAT), ("PUT", CHAT), ("GET", "/v1/nope")]
)
def test_nothing_is_served_without_a_key(client: httpx.Client, header: str | None, method: str, path: str) -> None:
    del client.headers["authorization"]
    headers = {} if header is None else {"authorization": header}
    answer = client.request(method, path, headers=headers, content=b"{not json")
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert _error(answer)["code"] == "invalid_api_key"


def test_unknown_expired_and_revoked_keys_get_the_same_answer(client: httpx.Client) -> None:
    expired = client.post(KEYS, headers=OWNER, json={"agent_ids": ["research"], "expires_in": 0}).json()
    revoked = client.post(KEYS, headers=OWNER, json={"agent_ids": ["research"]}).json()
    assert client.delete(f"{KEYS}/{revoked['id']}", headers=OWNER).status_code == 204
    secrets = ["unknown", expired["key"], revoked["key"]]
    answers = [client.get("/v1/models", headers={"authorization": f"Bearer {secret}"}) for secret in secrets]
    assert len({(answer.status_code, answer.content) for answer in answers}) == 1


@pytest.mark.parametrize(("token", "status"), [("", 401), ("Bearer wrong", 401), ("Bearer registry-token", 403)])
@pytest.mark.parametrize(("method", "path"), [("POST", KEYS), ("GET", KEYS), ("DELETE", f"{KEYS}/key_1")])
def test_only_the_owner_manages_keys(client: httpx.Client, token: str, status: int, method: str, path: str) -> None:
    before = _keys(client)
    answer = client.request(method, path, headers={"authorization": token}, json={"agent_ids": ["research"]})
    assert answer.status_code == status
    _error(answer)
    assert _keys(client) == before


def test_minted_key_is_described_without_its_secret_afterwards(client: httpx.Client) -> None:
    minted = client.post(KEYS, headers=OWNER, json={"agent_ids": ["secret"], "expires_in": 60, "rate_cap": 3}).json()
    listed = _keys(client)[-1]
    assert listed == {name: value for name, value in minted.items() if name != "key"}
    assert listed["expires_at"] == listed["created_at"] + 60


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 400),
        (b"[]", 400),
        (b"{}", 400),
        (b'{"agent_ids": []}', 400),
        (b'{"agent_ids": "research"}', 400),
        (b'{"agent_ids": [1]}', 400),
        (b'{"agent_ids": ["research", "nobody"]}', 404),
        (b'{"agent_ids": ["research"], "expires_in": "soon"}', 400),
        (b'{"agent_ids": ["research"], "expires_in": true}', 400),
        (b'{"agent_ids": ["research"], "expires_in": Infinity}', 400),
        (b'{"agent_ids": ["research"], "expires_in": NaN}', 400),
        (b'{"agent_ids": ["research"], "rate_cap": 0}', 400),
        (b'{"agent_ids": ["research"], "rate_cap": 1.5}', 400),
    ],
)
def test_bad_minting_makes_no_key(client: httpx.Client, body: bytes, status: int) -> None:
    before = _keys(client)
    answer = client.post(KEYS, headers=OWNER, content=body)
    assert answer.status_code == status
    _error(answer)
    assert _keys(client) == before


def test_unknown_key_cannot_be_revoked(client: httpx.Client) -> None:
    assert client.delete(f"{KEYS}/key_unknown", headers=OWNER).status_code == 404


def test_rate_cap_stops_turns(client: httpx.Client, opencode: OpencodeStub) -> None:
    minted = client.post(KEYS, headers=OWNER, json={"agent_ids": ["research"], "rate_cap": 1}).json()
    client.headers["authorization"] = f"Bearer {minted['key']}"
    answers = [_ask(client), _ask(client)]
    assert [answer.status_code for answer in answers] == [200, 429]
    assert int(answers[1].headers["retry-after"]) > 0
    assert len(opencode.prompts()) == 1


def test_models_are_the_agents_of_the_key(client: httpx.Client) -> None:
    listed = client.get("/v1/models").json()
    assert listed["object"] == "list"
    assert [model["id"] for model in listed["data"]] == ["research", "team/ops", "idle"]


@pytest.mark.parametrize("path", ["research", "team/ops", "team%2Fops"])
def test_model_of_the_key_is_described(client: httpx.Client, path: str) -> None:
    assert client.get(f"/v1/models/{path}").json()["id"] == path.replace("%2F", "/")


@pytest.mark.parametrize("path", ["secret", "nobody", "team", "ops", "research/", ""])
def test_model_outside_the_key_is_not_found(client: httpx.Client, path: str) -> None:
    answer = client.get(f"/v1/models/{path}")
    assert (answer.status_code, _error(answer)["code"]) == (404, "model_not_found")


@pytest.mark.parametrize(
    "model", ["secret", "nobody", "Research", " research", "resear", "researchx", "rеsearch", "\ud800"]
)
def test_agent_outside_the_key_is_not_found(client: httpx.Client, opencode: OpencodeStub, model: str) -> None:
    answer = client.post(CHAT, content=json.dumps({"model": model, "messages": [USER]}))
    assert (answer.status_code, _error(answer)["code"]) == (404, "model_not_found")
    assert opencode.requests == []


def test_agent_without_consent_looks_like_one_that_is_not_there(client: httpx.Client) -> None:
    answers = [_ask(client, model).text.replace(model, "?") for model in ("secret", "nobody")]
    assert answers[0] == answers[1]


def test_agent_without_a_model_is_a_bad_request(client: httpx.Client, opencode: OpencodeStub) -> None:
    answer = _ask(client, "idle")
    assert (answer.status_code, _error(answer)["type"]) == (400, "invalid_request_error")
    assert opencode.requests == []


def test_bad_request_is_one_although_opencode_is_down(start: Start) -> None:
    assert _ask(start(opencode_url="http://127.0.0.1:9"), messages=[]).status_code == 400


def test_huge_body_is_refused(client: httpx.Client) -> None:
    answer = client.post(CHAT, content=b" " * (MAX_BODY + 1))
    assert answer.status_code == 413
    _error(answer)


@pytest.mark.parametrize(
    ("method", "path", "status", "allow"),
    [
        ("GET", CHAT, 405, ["POST"]),
        ("POST", "/v1/models", 405, ["GET", "HEAD"]),
        ("PUT", KEYS, 405, None),
        ("GET", "/v1/nope", 404, None),
        ("GET", "/", 404, None),
        ("POST", CHAT + "/", 404, None),
    ],
)
def test_wrong_method_and_path_are_told_in_the_envelope(
    client: httpx.Client, method: str, path: str, status: int, allow: list[str] | None
) -> None:
    answer = client.request(method, path)
    assert answer.status_code == status
    assert _error(answer)["type"] == "invalid_request_error"
    assert allow is None or sorted(answer.headers["allow"].split(", ")) == allow


def test_completion_is_the_turns_text(client: httpx.Client) -> None:
    body = _ask(client).json()
    assert (body["object"], body["model"]) == ("chat.completion", "research")
    assert body["choices"] == [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "hello", "refusal": None},
            "logprobs": None,
            "finish_reason": "stop",
        }
    ]
    assert body["usage"] == {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}


def test_prompt_names_the_agents_model_whole(client: httpx.Client, opencode: OpencodeStub) -> None:
    _ask(client, messages=[{"role": "system", "content": "be brief"}, USER])
    assert opencode.prompts() == [
        {
            "model": {"providerID": "litellm", "modelID": "vendor/large-1"},
            "system": "be brief",
            "parts": [{"type": "text", "text": "hi"}],
        }
    ]


@pytest.mark.parametrize("content", ["", "  ", [], [{"type": "text", "text": ""}]])
def test_empty_message_drives_a_turn(client: httpx.Client, opencode: OpencodeStub, content: Any) -> None:
    assert _ask(client, messages=[{"role": "user", "content": content}]).status_code == 200
    assert len(opencode.prompts()) == 1


def test_opencode_is_given_the_password(client: httpx.Client, opencode: OpencodeStub) -> None:
    _ask(client)
    expected = httpx.BasicAuth("opencode", "opencode-password")
    (header,) = {dict(request.headers)["Authorization"] for request in opencode.requests}
    assert header == next(expected.auth_flow(httpx.Request("GET", "http://x"))).headers["authorization"]


def test_subscription_comes_before_the_prompt(client: httpx.Client, opencode: OpencodeStub) -> None:
    _ask(client)
    assert [request.path.rpartition("/")[2] for request in opencode.requests] == ["session", "event", "prompt_async"]


def test_session_has_a_title_and_denies_what_it_would_ask(client: httpx.Client, opencode: OpencodeStub) -> None:
    _ask(client)
    options = opencode.asked("POST /session")[0].json()
    assert options["title"]
    assert {rule["permission"] for rule in options["permission"]} == {"external_directory", "question", "doom_loop"}


def test_finished_turn_is_not_aborted(client: httpx.Client, opencode: OpencodeStub) -> None:
    _ask(client)
    assert opencode.asked(".*/abort") == []


def test_stream_is_chunks_of_one_answer(client: httpx.Client) -> None:
    *chunks, done = _events(_ask(client, stream=True))
    assert done == "[DONE]"
    assert len({(chunk["id"], chunk["created"], chunk["model"], chunk["object"]) for chunk in chunks}) == 1
    assert (chunks[0]["object"], chunks[0]["model"]) == ("chat.completion.chunk", "research")
    assert [chunk["choices"][0]["delta"] for chunk in chunks] == [{"role": "assistant", "content": "hello"}, {}]
    assert [chunk["choices"][0]["finish_reason"] for chunk in chunks] == [None, "stop"]


def test_stream_of_an_empty_reply_has_a_role(client: httpx.Client, opencode: OpencodeStub) -> None:
    opencode.script = turn([assistant("msg_a", "length")])
    chunks = _events(_ask(client, stream=True))
    assert chunks[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert chunks[1]["choices"][0]["finish_reason"] == "length"


@pytest.mark.parametrize("stream", [False, True])
def test_text_that_utf8_cannot_hold_does_not_break_the_answer(
    client: httpx.Client, opencode: OpencodeStub, stream: bool
) -> None:
    opencode.script = turn([assistant("msg_a"), opened("msg_a", "prt_t")])[:-2]
    escaped = r'{"sessionID":"ses_1","messageID":"msg_a","partID":"prt_t","field":"text","delta":"a\ud83d"}'
    opencode.raw = f'data: {{"type":"message.part.delta","properties":{escaped}}}\n\n'.encode()
    opencode.raw += b"".join(map(encode, [assistant("msg_a", "stop"), idle()]))
    answer = _ask(client, stream=stream)
    assert answer.status_code == 200
    assert r"a\ud83d" in answer.text


def test_line_separators_are_escaped_in_a_stream(client: httpx.Client, opencode: OpencodeStub) -> None:
    opencode.script = turn(answer("a\u0085b\u2028c\u2029d"))
    reply = _ask(client, stream=True)
    assert reply.content.isascii()
    assert _events(reply)[0]["choices"][0]["delta"]["content"] == "a\u0085b\u2028c\u2029d"


def test_usage_chunk_comes_when_asked_for(client: httpx.Client) -> None:
    chunk, done = _events(_ask(client, stream=True, stream_options={"include_usage": True}))[-2:]
    assert (chunk["choices"], chunk["usage"]["total_tokens"], done) == ([], 12, "[DONE]")


def test_accept_header_is_not_consulted(client: httpx.Client) -> None:
    client.headers["accept"] = "application/json"
    assert _events(_ask(client, stream=True))[-1] == "[DONE]"


def test_text_arrives_while_the_turn_goes_on(start: Start, opencode: OpencodeStub) -> None:
    opencode.script = PARTIAL
    body = {"model": "research", "messages": [USER], "stream": True}
    with start().stream("POST", CHAT, json=body) as answer:
        first = next(answer.iter_bytes())
    assert b"part of " in first


@pytest.mark.parametrize("stream", [False, True])
def test_failure_before_any_text_is_a_json_502(client: httpx.Client, opencode: OpencodeStub, stream: bool) -> None:
    opencode.script = [*BEGUN, error("UnknownError")]
    answer = _ask(client, stream=stream)
    assert answer.status_code == 502
    assert answer.headers["x-should-retry"] == "false"
    assert (_error(answer)["type"], _error(answer)["code"]) == ("server_error", "agent_error")


def test_failure_after_text_is_an_error_event(client: httpx.Client, opencode: OpencodeStub) -> None:
    opencode.script = [*PARTIAL, error("UnknownError")]
    first, last = _events(_ask(client, stream=True))
    assert first["choices"][0]["delta"]["content"] == "part of "
    assert last["error"]["message"]
    assert (last["error"]["type"], last["error"]["code"]) == ("server_error", "agent_error")


def test_failure_after_text_is_no_answer(client: httpx.Client, opencode: OpencodeStub) -> None:
    opencode.script = [*PARTIAL, text("msg_a", "prt_t", "part of "), error("UnknownError"), idle()]
    assert _ask(client).status_code == 502


def test_abandoned_text_fails_a_stream(client: httpx.Client, opencode: OpencodeStub) -> None:
    opencode.script = [*PARTIAL, status("retry"), *answer("second", "msg_b"), idle()]
    assert "error" in _events(_ask(client, stream=True))[-1]


def test_abandoned_text_is_not_in_a_json_answer(client: httpx.Client, opencode: OpencodeStub) -> None:
    opencode.script = [*PARTIAL, status("retry"), *answer("second", "msg_b"), idle()]
    assert _ask(client).json()["choices"][0]["message"]["content"] == "second"


@pytest.mark.parametrize(
    ("pattern", "reply"),
    [
        ("POST /session", (500, b"{}")),
        ("POST /session", (404, b"{}")),
        ("POST /session", (200, b"<html>")),
        ("POST /session", (200, b"[]")),
        ("POST /session", (200, b'{"id": 1}')),
        ("GET /event", (500, b"")),
        ("GET /event", (200, b"<html>")),
        (".*/prompt_async", (400, b"{}")),
        (".*/prompt_async", (500, b"{}")),
        (".*/prompt_async", (200, b"<html>")),
    ],
)
def test_refusal_of_opencode_is_a_502(
    client: httpx.Client, opencode: OpencodeStub, pattern: str, reply: tuple[int, bytes]
) -> None:
    opencode.replies = [(pattern, reply)]
    assert _ask(client).status_code == 502
    opencode.replies = []
    assert _ask(client).status_code == 200


def test_opencode_that_is_not_there_is_a_502(start: Start) -> None:
    assert _ask(start(opencode_url="http://127.0.0.1:9")).status_code == 502


@pytest.mark.parametrize("raw", [b"data: {\n\n", b"data: 1\n\n", b'data: {"type": 1}\n\n'])
def test_malformed_event_is_a_502(client: httpx.Client, opencode: OpencodeStub, raw: bytes) -> None:
    opencode.script, opencode.raw = BEGUN, raw
    assert _ask(client).status_code == 502


def test_event_stream_that_ends_is_a_502(client: httpx.Client, opencode: OpencodeStub) -> None:
    opencode.script, opencode.ends = BEGUN, True
    assert _ask(client).status_code == 502


def test_silence_is_a_502_when_the_time_is_over(start: Start, opencode: OpencodeStub) -> None:
    opencode.script = BEGUN
    answer = _ask(start(deadline=0.6, abort_grace=0.3))
    assert answer.status_code == 502
    assert answer.elapsed.total_seconds() < 5
    assert opencode.aborted.is_set()


def test_overflow_that_nothing_mends_does_not_wait_for_the_deadline(
    client: httpx.Client, opencode: OpencodeStub
) -> None:
    opencode.script = [*BEGUN, error("ContextOverflowError")]
    answer = _ask(client)
    assert answer.status_code == 502
    assert RECOVERY_SECONDS < answer.elapsed.total_seconds() < 4


def test_turn_that_failed_is_aborted_once_with_its_child_sessions(client: httpx.Client, opencode: OpencodeStub) -> None:
    opencode.script = [*BEGUN, error("UnknownError")]
    _ask(client)
    aborted = [request.path.split("/")[2] for request in opencode.asked(".*/abort")]
    assert aborted.count("ses_child") == 1


def test_turn_that_was_lost_is_aborted_twice_with_its_child_sessions(
    client: httpx.Client, opencode: OpencodeStub
) -> None:
    opencode.script, opencode.ends = BEGUN, True
    _ask(client)
    aborted = [request.path.split("/")[2] for request in opencode.asked(".*/abort")]
    assert aborted.count("ses_child") == 2
    assert aborted.count(SESSION) >= 2


def test_giving_up_on_a_server_that_is_gone_is_bounded(client: httpx.Client, opencode: OpencodeStub) -> None:
    opencode.script = [*BEGUN, error("UnknownError")]
    opencode.replies = [(".*/(abort|children)", (500, b"<html>"))]
    assert _ask(client).status_code == 502


@pytest.mark.parametrize("script", [BEGUN, PARTIAL])
@pytest.mark.parametrize("stream", [False, True])
def test_client_that_leaves_has_its_turn_aborted(
    start: Start, opencode: OpencodeStub, stream: bool, script: list[Any]
) -> None:
    opencode.script = script
    body = {"model": "research", "messages": [USER], "stream": stream}
    with pytest.raises(httpx.ReadTimeout):
        start().post(CHAT, json=body, timeout=httpx.Timeout(5, read=0.2))
    assert opencode.prompted.is_set()
    assert opencode.aborted.wait(5)


@pytest.mark.parametrize(
    ("kind", "path", "body"),
    [
        (
            "permission",
            "/permission/per_1/reply",
            {"reply": "reject", "message": "Nobody is there to be asked. Go on without it."},
        ),
        ("question", "/question/que_1/reject", None),
    ],
)
def test_question_is_rejected_and_the_turn_goes_on(
    client: httpx.Client, opencode: OpencodeStub, kind: str, path: str, body: Any
) -> None:
    asked = event(f"{kind}.asked", id=path.split("/")[2])
    opencode.script = [user(), status("busy"), asked, *answer("without it"), idle()]
    assert _ask(client).json()["choices"][0]["message"]["content"] == "without it"
    assert [request.json() for request in opencode.asked(f"POST {path}")] == [body]


def test_question_that_cannot_be_rejected_changes_nothing(client: httpx.Client, opencode: OpencodeStub) -> None:
    opencode.replies = [("POST /question/.*", (404, b"{}"))]
    opencode.script = [user(), status("busy"), event("question.asked", id="que_1"), *answer("fine"), idle()]
    assert _ask(client).status_code == 200


def test_crash_is_told_in_the_envelope(start: Start) -> None:
    def crash(_content: object, _where: str) -> str:
        raise IndexError("canary")

    client = start(replace(Parts(), read_content=crash))
    answer = _ask(client)
    assert (answer.status_code, _error(answer)["type"]) == (500, "server_error")
    assert "canary" not in answer.text


def test_giving_up_can_be_exchanged(start: Start, opencode: OpencodeStub) -> None:
    seen: list[str] = []

    async def give_up(opencode: Opencode, turn: Turn, why: Any) -> None:
        seen.append(why)
        await abort_turn(opencode, turn, why)

    opencode.script = [*BEGUN, error("UnknownError")]
    _ask(start(replace(Parts(), give_up=give_up)))
    assert seen == ["failed"]


def test_official_client_is_served(client: httpx.Client, opencode: OpencodeStub) -> None:
    key = client.headers["authorization"].removeprefix("Bearer ")
    with openai.OpenAI(base_url=f"{client.base_url}/v1", api_key=key, max_retries=0) as official:
        assert [model.id for model in official.models.list()] == ["research", "team/ops", "idle"]
        assert official.models.retrieve("team/ops").id == "team/ops"
        whole = official.chat.completions.create(model="research", messages=[{"role": "user", "content": "hi"}])
        assert whole.choices[0].message.content == "hello"
        with official.chat.completions.stream(model="research", messages=[{"role": "user", "content": "hi"}]) as stream:
            assert stream.get_final_completion().choices[0].message.content == "hello"
        with pytest.raises(openai.NotFoundError):
            official.chat.completions.create(model="nobody", messages=[{"role": "user", "content": "hi"}])
        opencode.script = [*BEGUN, error("UnknownError")]
        with pytest.raises(openai.InternalServerError):
            official.chat.completions.create(model="research", messages=[{"role": "user", "content": "hi"}])


@pytest.mark.parametrize(("folders", "named"), [({"research": "/agents/r & d"}, ["/agents/r & d"]), ({}, [])])
def test_session_events_and_questions_are_in_the_agents_folder(
    start: Start, opencode: OpencodeStub, folders: dict[str, str], named: list[str]
) -> None:
    opencode.script = [
        user(),
        status("busy"),
        event("permission.asked", id="per_1"),
        event("question.asked", id="que_1"),
        *answer("fine"),
        idle(),
    ]
    assert _ask(start(folders=folders)).status_code == 200
    requests = [opencode.asked(path) for path in ("POST /session", "GET /event", "POST /(permission|question)/.*")]
    assert [len(some) for some in requests] == [1, 1, 2]
    for request in (request for some in requests for request in some):
        assert parse_qs(urlsplit(request.target).query).get("directory", []) == named
