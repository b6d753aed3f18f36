"""What a server that is its own process keeps on disk: every session, so that a restarted one has them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from harness.fakes.opencode.sessions import Session


class Store:
    """Sessions in a file; `keeps` says what is kept of a message."""

    def __init__(self, path: Path, keeps: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        self._path, self._keeps = path, keeps

    def read(self) -> dict[str, Session]:
        """The sessions that were kept, by id; none where there is no file."""
        if not self._path.exists():
            return {}
        sessions = map(Session.from_json, json.loads(self._path.read_text(encoding="utf-8")))
        return {session.id: session for session in sessions}

    def write(self, sessions: Iterable[Session]) -> None:
        """Keep these sessions, and no others; a server that is killed meanwhile leaves the file as it was."""
        kept = [session.to_json() for session in sessions]
        for session in kept:
            session["messages"] = [{**m, "info": self._keeps(m["info"])} for m in session["messages"]]
        self._path.parent.mkdir(parents=True, exist_ok=True)
        half = self._path.with_suffix(".half")
        half.write_text(json.dumps(kept), encoding="utf-8")
        half.replace(self._path)
