"""Who hears what: subscribers to the events of one directory, and to those of all."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from harness.fakes.opencode.behaviour import Behaviour, Event
from harness.fakes.opencode.ids import new_id

_REPLAYED = 200

Listener = Callable[[Event], None]


class Bus:
    """Passes events on; nothing is kept, so a late subscriber hears nothing of before."""

    def __init__(self, behaviour: Behaviour) -> None:
        self._behaviour = behaviour
        self._listeners: dict[Listener, str | None] = {}
        self._before: deque[Event] = deque(maxlen=_REPLAYED if behaviour.replays else 0)

    def subscribe(self, listener: Listener, directory: str | None) -> None:
        """Tell `listener` the events of `directory`, or with None those of all, each with its directory around it."""
        self._listeners[listener] = directory
        self.tell(listener, "server.connected")
        for event in self._before:
            listener(event)

    def leave(self, listener: Listener) -> None:
        """Tell it nothing more."""
        self._listeners.pop(listener, None)

    def emit(self, directory: str, kind: str, properties: dict[str, Any]) -> None:
        """An event of a directory."""
        for event in self._behaviour.event({"id": new_id("evt"), "type": kind, "properties": properties}):
            self._before.append(event)
            for listener, wanted in self._hearing():
                if wanted is None:
                    listener(self._behaviour.envelope(directory, event))
                elif wanted == directory or not self._behaviour.per_directory:
                    listener(event)

    def _hearing(self) -> list[tuple[Listener, str | None]]:
        every = list(self._listeners.items())
        if not self._behaviour.newest_ear_only:
            return every
        newest = {wanted: listener for listener, wanted in every}
        return [(listener, wanted) for wanted, listener in newest.items()]

    def tell(self, listener: Listener, kind: str) -> None:
        """An event for one subscriber: that it is connected, or that the server lives."""
        everything = self._listeners.get(listener) is None
        for event in self._behaviour.event({"id": new_id("evt"), "type": kind, "properties": {}}):
            listener({"payload": event} if everything else event)
