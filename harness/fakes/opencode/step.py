"""One assistant message: the parts that a stream of chunks makes of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from harness.exchange import parse_json
from harness.fakes.opencode.ids import new_id, now
from harness.fakes.opencode.sessions import Message, Session, no_tokens

if TYPE_CHECKING:
    from harness.fakes.opencode.core import Core


class Step:
    """Takes chunks, tells events. A try that is abandoned leaves its parts behind: the next begins its own."""

    def __init__(self, core: Core, session: Session, message: Message) -> None:
        self._core, self.session, self.message = core, session, message
        self.calls: list[tuple[str, str]] = []
        """Part id and arguments of each tool call, in order."""
        self.begin_again()

    def begin_again(self) -> None:
        """Forget the try before."""
        self._open: dict[str, Any] | None = None
        self._spoken: list[str] = []
        self._call_parts: dict[int, str] = {}
        self._arguments: dict[str, list[str]] = {}
        self._started = False
        self._finish: str | None = None
        self._usage: dict[str, Any] = {}
        self.calls = []

    def take(self, chunk: dict[str, Any]) -> None:
        """One chunk of the stream."""
        if not self._started:
            self._started = True
            self.add_part({"type": "step-start"})
        if isinstance(chunk.get("usage"), dict):
            self._usage = chunk["usage"]
        for choice in chunk.get("choices") or ():
            self._finish = choice.get("finish_reason") or self._finish
            delta = choice.get("delta") or {}
            self._say("reasoning", delta.get("reasoning_content") or delta.get("reasoning") or "")
            self._say("text", delta.get("content") or "")
            for call in delta.get("tool_calls") or ():
                self._take_call(call)

    def _say(self, kind: str, text: str) -> None:
        if not text:
            return
        if self._open is None or self._open["type"] != kind:
            self.close_text()
            self._open = self.add_part({"type": kind, "text": "", "time": {"start": now()}})
        self._spoken.append(text)
        properties = {"messageID": self.message.id, "partID": self._open["id"], "field": "text", "delta": text}
        self._core.emit(self.session, "message.part.delta", **properties)

    def close_text(self) -> None:
        """The text or reasoning under way is whole."""
        if self._open is not None:
            self._open["text"] = "".join(self._spoken)
            self._open["time"]["end"] = now()
            self._core.emit_part(self.session, self.message, self._open["id"])
        self._open, self._spoken = None, []

    def _take_call(self, call: dict[str, Any]) -> None:
        index = int(call.get("index", 0))
        function = call.get("function") or {}
        if index not in self._call_parts:
            self._tell_running()
            state = {"status": "pending", "input": {}, "raw": ""}
            name = str(function.get("name", ""))
            part = self.add_part({"type": "tool", "tool": name, "callID": str(call.get("id")), "state": state})
            self._call_parts[index] = part["id"]
        self._arguments.setdefault(self._call_parts[index], []).append(str(function.get("arguments") or ""))

    def end(self) -> None:
        """The stream is over; the text under way is not closed yet."""
        if len(self._call_parts) > 1:
            self._tell_running()
        self.calls = [(part_id, "".join(pieces)) for part_id, pieces in self._arguments.items()]

    def _tell_running(self) -> None:
        """The calls so far are whole; one alone is told when it runs, of several each before the next."""
        for part_id, pieces in self._arguments.items():
            part, arguments = self.message.parts[part_id], parse_json("".join(pieces).encode())
            if part["state"]["status"] == "pending" and isinstance(arguments, dict):
                self.set_state(part_id, {"status": "running", "input": arguments, "time": {"start": now()}})

    def finish(self) -> str:
        """Tell how the step finished; the reason."""
        reason = self._core.behaviour.finish(self._finish)
        tokens = _tokens(self._usage)
        self.add_part({"type": "step-finish", "reason": reason, "tokens": tokens, "cost": 0})
        self.message.info |= {"finish": reason, "tokens": tokens}
        self.complete()
        self._count(tokens)
        self._core.emit_message(self.session, self.message)
        self._core.emit_message(self.session, self.message)
        return reason

    def complete(self) -> None:
        """Note when it was over."""
        self.message.info["time"]["completed"] = now()

    def add_part(self, part: dict[str, Any]) -> dict[str, Any]:
        """A new part, told."""
        part = {"id": new_id("prt"), "messageID": self.message.id, "sessionID": self.session.id, **part}
        self.message.parts[part["id"]] = part
        self._core.emit_part(self.session, self.message, part["id"])
        return part

    def set_state(self, part_id: str, state: dict[str, Any], tool: str | None = None) -> None:
        """How a tool call stands."""
        part = self.message.parts[part_id]
        part["state"] = json.loads(json.dumps(state))
        part["tool"] = tool or part["tool"]
        self._core.emit_part(self.session, self.message, part_id)

    def open_tools(self) -> list[dict[str, Any]]:
        """The tool calls that have no result yet."""
        tools = [part for part in self.message.parts.values() if part["type"] == "tool"]
        return [part for part in tools if part["state"]["status"] in ("pending", "running")]

    def interrupt_tools(self) -> None:
        """The calls under way were ended from outside."""
        for part in self.open_tools():
            time = {**part["state"].get("time", {"start": now()}), "end": now()}
            ended = {"status": "error", "input": part["state"]["input"], "time": time}
            ended |= {key: part["state"][key] for key in ("title",) if key in part["state"]}
            known = part["state"].get("metadata", {})
            ended |= {"error": "Tool execution aborted", "metadata": {**known, "interrupted": True}}
            self.set_state(part["id"], ended)

    def _count(self, tokens: dict[str, Any]) -> None:
        total = self.session.info["tokens"]
        for key in ("input", "output", "reasoning"):
            total[key] += tokens[key]


def _tokens(usage: dict[str, Any]) -> dict[str, Any]:
    prompt, completion = int(usage.get("prompt_tokens") or 0), int(usage.get("completion_tokens") or 0)
    details = usage.get("completion_tokens_details") or {}
    reasoning = int(details.get("reasoning_tokens") or 0)
    cached = int((usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0)
    if not usage:
        return no_tokens()
    return {
        "total": int(usage.get("total_tokens") or prompt + completion),
        "input": prompt - cached,
        "output": completion - reasoning,
        "reasoning": reasoning,
        "cache": {"write": 0, "read": cached},
    }
