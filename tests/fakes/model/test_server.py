from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import openai
import pytest

from harness.engine import Engine
from harness.fakes.model.script import Answer, Fault, Rule
from harness.fakes.model.server import ModelServer
from harness.journal import Journal
from harness.sse import Event, parse

TOLERANCE = 0.005
"""Seconds by which the event loop's clock, of whole milliseconds, may run ahead of the client's."""


@pytest.fixture
def journal() -> Journal:
    return Journal()


@pytest.fixture
def server(engine: Engine, journal: Journal) -> Iterator[ModelServer]:
    server = ModelServer(["m", "vendor/model"], journal)
    engine.call(server.start(), 10)
    yield server
    engine.call(server.stop(), 10)


@pytest.fixture
def http(server: ModelServer) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.url, timeout=10, trust_env=False) as client:
        yield client


@pytest.fixture
def official(server: ModelServer) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=server.url + "/v1", api_key="any", max_retries=0, timeout=10) as client:
        yield client


def body(text: str = "hello", **more: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": text}], **more}


def complete(http: httpx.Client, **more: Any) -> httpx.Response:
    return http.post("/v1/chat/completions", json=body(**more))


def received(http: httpx.Client, timeout: float = 10, **more: Any) -> tuple[list[Event], str]:
    """The events that came, and how the stream ended: `whole` or the error's name."""
    data = b""
    request = body(stream=True, **more)
    with http.stream("POST", "/v1/chat/completions", json=request, timeout=timeout) as answer:
        try:
            for piece in answer.iter_raw():
                data += piece
        except httpx.HTTPError as error:
            return parse(data), type(error).__name__
    return parse(data), "whole"


def text_in(events: list[Event]) -> str:
    chunks = [event.json() for event in events if isinstance(event.json(), dict)]
    return "".join(c["delta"].get("content", "") for chunk in chunks for c in chunk.get("choices", []))


def play(server: ModelServer, *steps: Answer) -> None:
    server.script.replace([Rule(None, steps)])


def test_official_client_lists_the_models(official: openai.OpenAI) -> None:
    assert [model.id for model in official.models.list()] == ["m", "vendor/model"]


def test_official_client_completes(server: ModelServer, official: openai.OpenAI) -> None:
    play(server, Answer("hello é", finish="length"))
    choice = official.chat.completions.create(model="m", messages=[{"role": "user", "content": "x"}]).choices[0]
    assert (choice.message.content, choice.finish_reason) == ("hello é", "length")


def test_official_client_streams_the_same_text(server: ModelServer, official: openai.OpenAI) -> None:
    play(server, Answer("one two three é\u2028\x85", piece=2))
    with official.chat.completions.create(
        model="m", messages=[{"role": "user", "content": "x"}], stream=True, stream_options={"include_usage": True}
    ) as stream:
        chunks = list(stream)
    text = "".join(choice.delta.content or "" for chunk in chunks for choice in chunk.choices)
    assert (text, chunks[-1].usage is not None) == ("one two three é\u2028\x85", True)


def test_official_client_sees_an_unknown_model_as_not_found(official: openai.OpenAI) -> None:
    with pytest.raises(openai.NotFoundError) as caught:
        official.chat.completions.create(model="other", messages=[{"role": "user", "content": "x"}])
    assert caught.value.code == "model_not_found"


def test_official_client_sees_a_scripted_status_with_its_headers(server: ModelServer, official: openai.OpenAI) -> None:
    play(server, Answer(status=429, message="slow down", headers=(("retry-after", "1"),)))
    with pytest.raises(openai.RateLimitError, match="slow down") as caught:
        official.chat.completions.create(model="m", messages=[{"role": "user", "content": "x"}])
    assert caught.value.response.headers["retry-after"] == "1"


def test_official_client_raises_on_an_error_chunk(server: ModelServer, official: openai.OpenAI) -> None:
    play(server, Answer("text", fault="error_chunk", message="it broke"))
    with (
        pytest.raises(openai.APIError, match="it broke"),
        official.chat.completions.create(model="m", messages=[{"role": "user", "content": "x"}], stream=True) as stream,
    ):
        list(stream)


def test_unknown_route_is_404(http: httpx.Client) -> None:
    assert http.get("/health").status_code == 404


def test_body_that_is_not_json_is_400(http: httpx.Client) -> None:
    assert http.post("/v1/chat/completions", content=b"not json").status_code == 400


def test_unknown_model_is_404(http: httpx.Client) -> None:
    assert http.post("/v1/chat/completions", json={**body(), "model": "other"}).status_code == 404


def test_stream_is_an_event_stream(http: httpx.Client) -> None:
    assert complete(http, stream=True).headers["content-type"] == "text/event-stream; charset=utf-8"


def test_stream_and_whole_answer_have_the_same_text(server: ModelServer, http: httpx.Client) -> None:
    play(server, Answer("The quick brown fox, é and all", piece=5))
    whole = complete(http).json()["choices"][0]["message"]["content"]
    assert text_in(received(http)[0]) == whole


def test_steps_are_answered_in_order(server: ModelServer, http: httpx.Client) -> None:
    play(server, Answer("one"), Answer("two"))
    assert [text_in(received(http)[0]) for _ in range(3)] == ["one", "two", "two"]


def test_sixteen_requests_at_once_get_each_its_own_script(server: ModelServer, http: httpx.Client) -> None:
    names = [f"nonce-{number:02}" for number in range(16)]
    server.script.replace([Rule(name, (Answer(f"answer to {name}", piece=3, pause=0.002),)) for name in names])
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda name: text_in(received(http, text=f"say {name}")[0]), names))
    assert answers == [f"answer to {name}" for name in names]


@pytest.mark.parametrize(
    ("fault", "ending", "text"),
    [
        ("cut", "RemoteProtocolError", "some text"),
        ("reset", "ReadError", "some text"),
        ("bad_chunk", "whole", "some text"),
        ("error_chunk", "whole", "some text"),
        ("no_done", "whole", "some text"),
    ],
)
def test_streamed_fault_as_its_client_sees_it(
    server: ModelServer, http: httpx.Client, fault: Fault, ending: str, text: str
) -> None:
    play(server, Answer("some text", fault=fault, message="broken"))
    events, ended = received(http)
    assert (text_in(events), ended) == (text, ending)


def test_bad_chunk_is_an_event_that_is_not_json(server: ModelServer, http: httpx.Client) -> None:
    play(server, Answer(fault="bad_chunk"))
    bad = [event.data for event in received(http)[0] if event.json() is None]
    assert bad == ['{"choices": [', "[DONE]"]


def test_error_chunk_is_an_error_object_instead_of_the_finish(server: ModelServer, http: httpx.Client) -> None:
    play(server, Answer(fault="error_chunk", message="broken"))
    error, done = received(http)[0][-2:]
    assert (error.json()["error"]["message"], done.data) == ("broken", "[DONE]")


def test_no_done_ends_with_the_finish_reason(server: ModelServer, http: httpx.Client) -> None:
    play(server, Answer(fault="no_done"))
    assert received(http)[0][-1].json()["choices"][0]["finish_reason"] == "stop"


def test_missing_finish_reason_is_missing(server: ModelServer, http: httpx.Client) -> None:
    play(server, Answer(finish=None))
    reasons = [event.json()["choices"][0]["finish_reason"] for event in received(http)[0][:-1]]
    assert set(reasons) == {None}


def test_hang_says_nothing_until_its_client_leaves(server: ModelServer, http: httpx.Client, journal: Journal) -> None:
    play(server, Answer(fault="hang"))
    with pytest.raises(httpx.ReadTimeout):
        http.post("/v1/chat/completions", json=body(stream=True), timeout=0.1)
    assert journal.wait("model", lambda seen: seen[0].end == "gone" and seen[0].status is None, within=10)


def test_hang_after_text_sends_the_text_first(server: ModelServer, http: httpx.Client) -> None:
    play(server, Answer("some text", fault="hang_after_text"))
    events, ended = received(http, timeout=0.1)
    assert (text_in(events), ended) == ("some text", "ReadTimeout")


@pytest.mark.parametrize(
    ("fault", "error"),
    [("cut", httpx.RemoteProtocolError), ("reset", httpx.ReadError), ("hang_after_text", httpx.ReadTimeout)],
)
def test_whole_answer_breaks_off_or_stops_too(
    server: ModelServer, http: httpx.Client, fault: Fault, error: type[httpx.HTTPError]
) -> None:
    play(server, Answer("some text", fault=fault))
    with pytest.raises(error):
        http.post("/v1/chat/completions", json=body(), timeout=0.2)


def test_whole_answer_with_a_bad_chunk_is_no_json(server: ModelServer, http: httpx.Client) -> None:
    play(server, Answer("some text", fault="bad_chunk"))
    answer = complete(http)
    with pytest.raises(ValueError, match=r"Expecting|Unterminated"):
        answer.json()


def test_whole_answer_with_an_error_chunk_is_a_500(server: ModelServer, http: httpx.Client) -> None:
    play(server, Answer(fault="error_chunk", message="broken"))
    answer = complete(http)
    assert (answer.status_code, answer.json()["error"]["message"]) == (500, "broken")


def test_pauses_are_kept_from_the_beginning_on(server: ModelServer, http: httpx.Client) -> None:
    play(server, Answer("abcdef", piece=1, pause=0.02))
    began = time.monotonic()
    text = text_in(received(http)[0])
    assert text == "abcdef"
    assert time.monotonic() - began >= 6 * 0.02 - TOLERANCE


def test_calls_are_journalled_as_hop_model(http: httpx.Client, journal: Journal) -> None:
    complete(http, text="hello")
    (exchange,) = journal.seen("model")
    assert (exchange.request.json(), exchange.status, exchange.end) == (body(), 200, "complete")
    assert exchange.json()["choices"][0]["message"]["content"] == "ok"


def test_server_without_a_journal_answers_and_keeps_no_calls(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    own = Journal()
    monkeypatch.setattr("harness.fakes.model.server.Journal", lambda: own)
    server = ModelServer(["m"])
    engine.call(server.start(), 10)
    try:
        for _ in range(3):
            assert httpx.get(server.url + "/v1/models", timeout=10, trust_env=False).status_code == 200
    finally:
        engine.call(server.stop(), 10)
    assert len(own.seen()) == 1


@pytest.mark.parametrize("stream", [False, True])
def test_answer_waits_at_its_gate(server: ModelServer, http: httpx.Client, engine: Engine, stream: bool) -> None:
    async def let_go() -> None:
        server.script.gate("gate").open()

    play(server, Answer("first rest", piece=6, gate="gate"))
    with ThreadPoolExecutor(1) as pool:
        answering = pool.submit(lambda: complete(http, stream=stream).text)
        with pytest.raises(TimeoutError):
            answering.result(0.1)
        engine.call(let_go(), 10)
        assert "rest" in answering.result(10)


def test_first_piece_passes_the_gate(server: ModelServer, http: httpx.Client) -> None:
    play(server, Answer("first rest", piece=6, gate="gate"))
    events, end = received(http, timeout=0.3)
    assert (text_in(events), end) == ("first ", "ReadTimeout")
