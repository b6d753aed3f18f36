"""What a server that is its own process keeps on disk: every session, so that a restarted one has them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness.fakes.opencode.sessions import Session


class Store:
    """Sessions in a folder, each in a file of its own; `keeps` says what is kept of a message."""

    def __init__(self, folder: Path, keeps: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        self._folder, self._keeps = folder, keeps

    def read(self) -> dict[str, Session]:
        """The sessions that were kept, by id, the oldest first."""
        kept = (json.loads(path.read_text(encoding="utf-8")) for path in self._folder.glob("*.json"))
        sessions = sorted(
            map(Session.from_json, kept), key=lambda session: (session.info["time"]["created"], session.id)
        )
        return {session.id: session for session in sessions}

    def write(self, session: Session) -> None:
        """Keep the session as it stands; a server that is killed meanwhile leaves what was kept of it before."""
        kept = session.to_json()
        kept["messages"] = [{**m, "info": self._keeps(m["info"])} for m in kept["messages"]]
        self._folder.mkdir(parents=True, exist_ok=True)
        half = self._file(session).with_suffix(".half")
        half.write_text(json.dumps(kept), encoding="utf-8")
        half.replace(self._file(session))

    def remove(self, session: Session) -> None:
        """Keep nothing of it any more."""
        self._file(session).unlink(missing_ok=True)

    def _file(self, session: Session) -> Path:
        return self._folder / f"{session.id}.json"
