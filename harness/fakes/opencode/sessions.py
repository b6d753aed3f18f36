"""Sessions with their messages, as the server keeps and shows them."""

from __future__ import annotations

import copy
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from harness.fakes.opencode.ids import new_id, now

_ADJECTIVES = ("brave", "calm", "clever", "eager", "quiet", "sunny", "swift", "tidy")
_NOUNS = ("canyon", "comet", "forest", "island", "lagoon", "meadow", "river", "wolf")


def no_tokens() -> dict[str, Any]:
    """The count of a message that has not been answered."""
    return {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}}


@dataclass
class Message:
    """A message: its information, and its parts by id in their order."""

    info: dict[str, Any]
    parts: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The message's id."""
        return str(self.info["id"])

    def shown(self) -> dict[str, Any]:
        """The message as the routes show it."""
        return copy.deepcopy({"info": self.info, "parts": list(self.parts.values())})


class Session:
    """One session."""

    def __init__(self, directory: str, version: str, wanted: dict[str, Any]) -> None:
        created = now()
        stamp = datetime.fromtimestamp(created / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        kind = "Child" if wanted.get("parentID") else "New"
        self.directory = directory
        self.untitled = "title" not in wanted
        self.messages: dict[str, Message] = {}
        self.permission: list[dict[str, str]] = wanted.get("permission") or []
        self.info: dict[str, Any] = {
            "id": new_id("ses"),
            "slug": f"{secrets.choice(_ADJECTIVES)}-{secrets.choice(_NOUNS)}",
            "version": version,
            "projectID": "global",
            "directory": directory,
            "path": directory.removeprefix("/"),
            "title": wanted.get("title", f"{kind} session - {stamp}"),
            "cost": 0,
            "tokens": no_tokens(),
            "time": {"created": created, "updated": created},
        }
        if wanted.get("parentID"):
            self.info["parentID"] = wanted["parentID"]
        if wanted.get("agent"):
            self.info["agent"] = wanted["agent"]
        self.info |= {key: wanted[key] for key in ("permission", "metadata") if key in wanted}

    @property
    def id(self) -> str:
        """The session's id."""
        return str(self.info["id"])

    @property
    def parent(self) -> str | None:
        """The id of the session that this one is a child of."""
        parent = self.info.get("parentID")
        return None if parent is None else str(parent)

    def restrict(self, tools: Mapping[str, bool]) -> None:
        """Switch tools on and off by name, from here on: these are the session's rules now, and no others."""
        actions = {True: "allow", False: "deny"}
        self.permission = [{"permission": tool, "pattern": "*", "action": actions[on]} for tool, on in tools.items()]
        self.info["permission"] = self.permission

    def change(self, wanted: Mapping[str, Any]) -> None:
        """Take over another title, other rules, and the time at which it was put away."""
        if wanted.get("title") is not None:
            self.info["title"] = wanted["title"]
        if wanted.get("permission") is not None:
            self.permission = self.info["permission"] = wanted["permission"]
        if (wanted.get("time") or {}).get("archived") is not None:
            self.info["time"]["archived"] = wanted["time"]["archived"]

    def shown(self) -> dict[str, Any]:
        """The session as routes and events show it."""
        return copy.deepcopy(self.info)

    def to_json(self) -> dict[str, Any]:
        """The session with its messages, for `from_json`."""
        messages = [{"info": message.info, "parts": message.parts} for message in self.messages.values()]
        kept = {"directory": self.directory, "untitled": self.untitled, "permission": self.permission}
        return {**kept, "info": self.info, "messages": messages}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Session:
        """The session that `to_json` described."""
        session = cls(data["directory"], data["info"]["version"], {})
        session.untitled, session.permission, session.info = data["untitled"], data["permission"], data["info"]
        messages = (Message(message["info"], message["parts"]) for message in data["messages"])
        session.messages = {message.id: message for message in messages}
        return session

    def last(self, role: str) -> Message | None:
        """The last message of a role."""
        return next((m for m in reversed(self.messages.values()) if m.info["role"] == role), None)
