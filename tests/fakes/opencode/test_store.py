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
    store, session = Store(tmp_path / "deep" / "sessions.json", Behaviour().keeps), _session()
    store.write([session])
    assert store.read()[session.id].to_json() == session.to_json()


def test_a_store_without_a_file_is_empty(tmp_path: Path) -> None:
    assert Store(tmp_path / "none.json", Behaviour().keeps).read() == {}


def test_what_is_kept_of_a_message_may_differ_from_what_was_told(tmp_path: Path) -> None:
    store, session = Store(tmp_path / "sessions.json", lambda info: {**info, "finish": "stop"}), _session()
    store.write([session])
    assert store.read()[session.id].messages["msg_1"].info["finish"] == "stop"
