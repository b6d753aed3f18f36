from __future__ import annotations

from pathlib import Path

from harness.fakes.opencode.behaviour import Behaviour
from harness.fakes.opencode.sessions import Message, Session
from harness.fakes.opencode.store import Store


def _session() -> Session:
    session = Session("/somewhere", "1.18.33", {"title": "kept"})
    message = Message({"id": "msg_1", "role": "assistant"}, {"prt_1": {"id": "prt_1", "type": "text"}})
    session.messages[message.id] = message
    return session


def test_sessions_are_read_as_they_were_written(tmp_path: Path) -> None:
    store, session = Store(tmp_path / "deep" / "sessions", Behaviour().keeps), _session()
    store.write(session)
    assert store.read()[session.id].to_json() == session.to_json()


def test_a_store_without_a_folder_is_empty(tmp_path: Path) -> None:
    assert Store(tmp_path / "none", Behaviour().keeps).read() == {}


def test_what_is_kept_of_a_message_may_differ_from_what_was_told(tmp_path: Path) -> None:
    store, session = Store(tmp_path / "sessions", lambda info: {**info, "finish": "stop"}), _session()
    store.write(session)
    assert store.read()[session.id].messages["msg_1"].info["finish"] == "stop"


def test_a_session_is_written_alone(tmp_path: Path) -> None:
    store, first, second = Store(tmp_path, Behaviour().keeps), _session(), _session()
    store.write(first)
    written = (tmp_path / f"{first.id}.json").stat().st_mtime_ns
    store.write(second)
    assert (tmp_path / f"{first.id}.json").stat().st_mtime_ns == written
    assert store.read().keys() == {first.id, second.id}


def test_sessions_are_read_in_the_order_in_which_they_were_made(tmp_path: Path) -> None:
    store, sessions = Store(tmp_path, Behaviour().keeps), [_session() for _ in range(3)]
    for at, session in enumerate(sessions):
        session.info["time"]["created"] = 100 - at
        store.write(session)
    assert list(store.read()) == [session.id for session in reversed(sessions)]


def test_nothing_is_kept_of_a_session_that_was_removed(tmp_path: Path) -> None:
    store, session = Store(tmp_path, Behaviour().keeps), _session()
    store.write(session)
    store.remove(session)
    assert store.read() == {}
    store.remove(session)
