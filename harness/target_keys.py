"""The keys of a target, where each comes from, and how keys are minted at it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.template import JSON


@dataclass(frozen=True)
class Request:
    """An HTTP request to the target; path, header values and the strings in `body` are templates."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: JSON = None


@dataclass(frozen=True)
class FromEnvironment:
    """The key is the value of an environment variable."""

    variable: str


@dataclass(frozen=True)
class FromCommand:
    """The key is what a command prints on its standard output; its arguments are templates."""

    command: tuple[str, ...]


@dataclass(frozen=True)
class FromRequest:
    """The key is in the answer to a request, at the JSON pointer `pointer`, and its id at `id_pointer`."""

    request: Request
    pointer: str
    id_pointer: str | None = None


KeySource = FromEnvironment | FromCommand | FromRequest


@dataclass(frozen=True)
class KeyFacts:
    """What is known of a key without where it comes from; `state` is valid, expired or revoked.

    `rate_cap` is the number of turns that it may begin in a minute, None when the file does not say.
    """

    name: str
    state: str
    agents: tuple[str, ...]
    rate_cap: int | None = field(default=None, kw_only=True)

    def to_json(self) -> dict[str, Any]:
        """Return the facts of the key as JSON; a cap that is not known is left out."""
        capped = {} if self.rate_cap is None else {"rate_cap": self.rate_cap}
        return {"name": self.name, "state": self.state, "agents": list(self.agents), **capped}


@dataclass(frozen=True)
class Key(KeyFacts):
    """A key with its source; `revoke` is sent after the key was had, to bring it into the state revoked."""

    source: KeySource
    revoke: Request | None = None


OPENCODE_KEYS = (Key("main", "valid", (), FromEnvironment("")),)
"""The key of an opencode server that is judged itself: made for the run, and carried by HTTP Basic."""


@dataclass(frozen=True)
class Expiring:
    """What is added to the body of a mint request for a key that ends by itself `within` so many seconds."""

    body: Mapping[str, JSON]
    within: float


@dataclass(frozen=True)
class Listing:
    """Where keys are listed, and the JSON pointer to the list in the answer."""

    path: str
    pointer: str


@dataclass(frozen=True)
class Minting:
    """How keys are minted, listed and revoked at the target; what the file does not say is None.

    `headers` are those of the owner's session, `agent_headers` those with which an agent shows its registry token.
    `pointer` and `id_pointer` lead to the key and its id in the answer to a mint request. `store` is the template of
    the path under which the target keeps its keys.
    """

    path: str
    headers: Mapping[str, str]
    pointer: str
    id_pointer: str | None = None
    agent_headers: Mapping[str, str] | None = None
    listing: Listing | None = None
    revoke: Request | None = None
    expiring: Expiring | None = None
    store: str | None = None
