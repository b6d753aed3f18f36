"""An answer of the model, put together from the chunks of its stream."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.fakes.kilo.events import Part, now

_FINISH = {"stop": "stop", "length": "length", "content_filter": "content-filter", "tool_calls": "tool-calls"}


class Answer:
    """An answer as it comes in. `tell` is given the types of events and parts, each text as soon as it is whole."""

    def __init__(self, reasoning_fields: tuple[str, ...], tell: Callable[[str, Part], None]) -> None:
        self._fields, self._tell = reasoning_fields, tell
        self._kind, self._pieces, self._start = "", list[str](), 0
        self._started = False
        self._usage: dict[str, Any] = {}
        self.began = now()
        self.text = self.reasoning = ""
        self.finish: str | None = None
        self.calls: list[dict[str, Any]] = []

    def take(self, chunk: dict[str, Any]) -> None:
        """One chunk of the stream."""
        if not self._started:
            self._started = True
            self._tell("step_start", {"type": "step-start"})
        self._usage = chunk.get("usage") or self._usage
        for choice in chunk.get("choices") or ():
            self.finish = choice.get("finish_reason") or self.finish
            delta = choice.get("delta") or {}
            thought = next((delta[field] for field in self._fields if delta.get(field)), "")
            self._say("reasoning", thought)
            self._say("text", delta.get("content") or "")
            for call in delta.get("tool_calls") or ():
                self._take_call(call)

    def _say(self, kind: str, text: str) -> None:
        if not text:
            return
        if kind != self._kind:
            self.close()
            self._kind, self._start = kind, now()
        self._pieces.append(text)

    def _take_call(self, call: dict[str, Any]) -> None:
        index, function = int(call.get("index", 0)), call.get("function") or {}
        while len(self.calls) <= index:
            self.calls.append({"id": "", "name": "", "arguments": ""})
        known = self.calls[index]
        known["id"] = call.get("id") or known["id"]
        known["name"] = function.get("name") or known["name"]
        known["arguments"] += function.get("arguments") or ""

    def close(self) -> None:
        """The text under way is whole."""
        if self._kind:
            text = "".join(self._pieces)
            part = {"type": self._kind, "text": text, "time": {"start": self._start, "end": now()}}
            self._tell(self._kind, part)
            if self._kind == "text":
                self.text += text
            else:
                self.reasoning += text
        self._kind, self._pieces = "", []

    @property
    def reason(self) -> str:
        """Why it ended, in the CLI's words; empty when the model did not say."""
        return "" if self.finish is None else _FINISH.get(self.finish, "other")

    @property
    def output(self) -> int:
        """Its tokens."""
        return int(self._usage.get("completion_tokens") or 0)

    def tokens(self, without_reasoning: bool) -> dict[str, Any]:
        """The usage in the CLI's words; the output counts reasoning too unless `without_reasoning`."""
        usage = self._usage
        prompt = int(usage.get("prompt_tokens") or 0)
        reasoning = int((usage.get("completion_tokens_details") or {}).get("reasoning_tokens") or 0)
        cached = int((usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0)
        total = {"total": int(usage.get("total_tokens") or prompt + self.output)} if usage else {}
        output = self.output - reasoning if without_reasoning else self.output
        return {
            **total,
            "input": prompt - cached,
            "output": output,
            "reasoning": reasoning,
            "cache": {"read": cached, "write": 0},
        }
