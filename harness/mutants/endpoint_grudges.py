"""Endpoints that hold against a request what went wrong before it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from harness.mutants.mutant import Mutant
from harness.reference.endpoint.access import authenticate
from harness.reference.endpoint.chat_request import Message
from harness.reference.endpoint.driver import Why, abort_turn, new_session
from harness.reference.endpoint.envelope import Refusal, turn_failed
from harness.reference.endpoint.keys import Key, KeyStore
from harness.reference.endpoint.opencode import Opencode
from harness.reference.endpoint.parts import Parts
from harness.reference.endpoint.prompt import Prompt
from harness.reference.endpoint.turn import Failure, Turn


class _Grudge:
    """After a turn that failed for such a reason, the next request is refused without trying."""

    def __init__(self, reason: str) -> None:
        self._reason = re.compile(reason)
        self._held = False

    def bear(self, failure: Failure) -> Refusal:
        self._held |= self._reason.search(failure.reason) is not None
        return turn_failed(failure)

    def take_out_on(self, _message: Message) -> None:
        if self._held:
            self._held = False
            raise turn_failed(Failure("not tried"))


class _Sessions:
    """A session is used until a turn in it went well."""

    def __init__(self) -> None:
        self._failed: list[str] = []

    async def new_session(self, opencode: Opencode, options: Mapping[str, Any], prompt: Prompt) -> str:
        if self._failed:
            return self._failed.pop()
        return await new_session(opencode, options, prompt)

    async def give_up(self, opencode: Opencode, turn: Turn, why: Why) -> None:
        await abort_turn(opencode, turn, why)
        if why in ("failed", "deadline"):
            self._failed.append(turn.session)


class _Breaker:
    """Opens when opencode was down twice in a row, and then looks at no key."""

    def __init__(self) -> None:
        self._down = 0

    def turn_failed(self, failure: Failure) -> Refusal:
        self._down += "503" in failure.reason
        return turn_failed(failure)

    def make_turn(self, session: str) -> Turn:
        self._down = 0
        return Turn(session)

    def authenticate(self, header: str | None, store: KeyStore, now: float, parts: Parts) -> Key:
        try:
            return authenticate(header, store, now, parts)
        except Refusal:
            if self._down < 2:
                raise
            raise turn_failed(Failure("opencode is down")) from None


def _grudge(name: str, does: str, reason: str, *caught_by: str) -> Mutant[Parts]:
    def hold(parts: Parts) -> Parts:
        grudge = _Grudge(reason)
        return replace(parts, turn_failed=grudge.bear, check_empty=grudge.take_out_on)

    return Mutant(name, does, frozenset(caught_by), hold)


def _resume(parts: Parts) -> Parts:
    sessions = _Sessions()
    return replace(parts, new_session=sessions.new_session, give_up=sessions.give_up)


def _break_before_key(parts: Parts) -> Parts:
    breaker = _Breaker()
    return replace(
        parts, authenticate=breaker.authenticate, turn_failed=breaker.turn_failed, make_turn=breaker.make_turn
    )


GRUDGES: tuple[Mutant[Parts], ...] = (
    _grudge(
        "holds_grudge",
        "refuses the next one after an opencode that is not well",
        "ClientConnectorError|POST /session|no id|prompt_async|event",
        "AE-FAULT-2",
        "AE-FAULT-9",
        "AE-STREAM-5",
    ),
    Mutant(
        "failed_session_again",
        "goes on in the session of a failed turn",
        frozenset({"AE-FAULT-9", "AE-ENV-1", "AE-ENV-3", "AE-REPLY-10", "AE-STREAM-5", "AE-STREAM-8", "AE-STREAM-9"}),
        _resume,
    ),
    Mutant("breaker_before_key", "looks at no key while opencode is down", frozenset({"AE-REQ-8"}), _break_before_key),
)
