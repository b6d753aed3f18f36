"""Endpoints that take too little of a turn's texts for the answer, or one that is not the answer's."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.mutants.mutant import Mutant, changing
from harness.reference.endpoint.parts import Parts
from harness.reference.endpoint.turn import Outcome, Reply, Step, Turn


class _LastTextIsReply(Turn):
    """Where the last message has no text, the last one that has some lends it."""

    def _outcome(self) -> Outcome:
        outcome = super()._outcome()
        if isinstance(outcome, Reply) and not outcome.text:
            texts = [self._text(key) for key, message in self._messages.items() if self._answers(message)]
            return replace(outcome, text=next(filter(None, reversed(texts)), ""))
        return outcome


class _ReasoningStandsIn(Turn):
    _thought = ""

    def _on_part(self, properties: dict[str, Any]) -> list[Step]:
        part = properties["part"]
        if part["type"] == "reasoning":
            self._thought = part.get("text") or self._thought
        return super()._on_part(properties)

    def _outcome(self) -> Outcome:
        outcome = super()._outcome()
        return replace(outcome, text=outcome.text or self._thought) if isinstance(outcome, Reply) else outcome


class _LastPartIsText(Turn):
    def _text(self, message_id: str) -> str:
        parts = [part for part in self._parts_of(message_id) if part.type == "text" and not part.abandoned]
        return "".join(parts[-1].spoken + parts[-1].waiting) if parts else ""


TEXTS: tuple[Mutant[Parts], ...] = (
    changing("last_text_is_reply", "answers with an earlier text for none", "AE-REPLY-5", make_turn=_LastTextIsReply),
    changing(
        "reasoning_stands_in",
        "answers with reasoning where there is no text",
        "AE-REPLY-3",
        make_turn=_ReasoningStandsIn,
    ),
    changing("last_part_is_text", "reads the last of a message's texts", "AE-REPLY-5", make_turn=_LastPartIsText),
)
