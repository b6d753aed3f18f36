"""The events that are printed, one JSON object a line, and the plain text that is mixed in on failures."""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

from harness.fakes.kilo.behaviour import Behaviour

Part = dict[str, Any]

_LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def now() -> int:
    """The time of day in milliseconds."""
    return time.time_ns() // 1_000_000


def new_id(prefix: str) -> str:
    """An id like the CLI's own."""
    letters = "".join(_LETTERS[byte % len(_LETTERS)] for byte in os.urandom(14))
    return f"{prefix}_{os.urandom(6).hex()}{letters}"


class Printer:
    """Prints what one session has to tell; not `as_json`, it is text meant to be read by people."""

    def __init__(self, behaves: Behaviour, as_json: bool) -> None:
        self.session = new_id("ses")
        self._faults, self._complains, self._as_json = behaves.faults, behaves.rules.complains, as_json
        self._began = False

    def part(self, event: str, message: str, part: Part) -> None:
        """A part of a message is whole."""
        whole = {"id": new_id("prt"), "sessionID": self.session, "messageID": message, **part}
        for _ in range(self._faults.repeats):
            self._event(event, part=whole)
        if not self._as_json and part["type"] == "text":
            self._write(f"{part['text']}\n")

    def error(self, error: Any) -> None:
        """Something went wrong: the event, and the line for people on standard error."""
        self._event("error", error=error)
        if self._complains:
            self.complain(error if isinstance(error, str) else error["data"]["message"])

    def announce(self, error: Any) -> None:
        """An error that is told by its event alone."""
        self._event("error", error=error)

    def complain(self, said: str) -> None:
        """A line for people on standard error, in red."""
        self._tell_people(f"\x1b[91m\x1b[1mError: \x1b[0m{said}")

    def warn(self, said: str) -> None:
        """A line for people on standard error, in yellow."""
        self._tell_people(f"\x1b[93m\x1b[1m! \x1b[0m{said}")

    def close(self) -> None:
        """Nothing more will be told."""
        self._verbatim(self._faults.lines_after)

    def _event(self, kind: str, **rest: Any) -> None:
        if not self._began:
            self._began = True
            self._verbatim(self._faults.lines_before)
        if not self._as_json or self._faults.no_events:
            return
        event = {"type": kind, "timestamp": now(), "sessionID": self.session, **rest}
        self._write(json.dumps(event, ensure_ascii=False, separators=(",", ":")) + "\n")
        if self._faults.line_between is not None:
            self._verbatim((self._faults.line_between,))

    def _tell_people(self, line: str) -> None:
        if not self._faults.silent:
            sys.stderr.write(f"{line}\n")
            sys.stderr.flush()

    def _verbatim(self, lines: tuple[str, ...]) -> None:
        for line in lines:
            self._write(line.replace("{session}", self.session) + "\n")

    def _write(self, text: str) -> None:
        if self._faults.silent:
            return
        data = text.encode("utf-8", "surrogatepass")
        size = self._faults.pieces or len(data)
        for at in range(0, len(data), size):
            os.write(1, data[at : at + size])
