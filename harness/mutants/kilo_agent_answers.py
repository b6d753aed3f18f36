"""Agents that make a wrong answer of a run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from harness.mutants.mutant import Mutant, changing
from harness.reference.kilo.events import Event, Failed, Reasoning, StepFinish, StepStart, Text, ToolUse, read_event
from harness.reference.kilo.outcome import Failure, Ran, judge
from harness.reference.kilo.parts import Parts
from harness.reference.kilo.transcript import Item, output_items, usage


def _strict(line: bytes) -> Event | None:
    """Takes every line that begins like an object for one."""
    if line.startswith(b"{"):
        json.loads(line)
    return read_event(line)


def _any_role(line: bytes) -> Event | None:
    return read_event(line.replace(b'"role": "user"', b'"role": "assistant"'))


def _all(events: Sequence[Event]) -> tuple[Event, ...]:
    return tuple(events)


def _texts_first(events: Sequence[Event]) -> list[Item]:
    return output_items(sorted(events, key=lambda event: isinstance(event, Reasoning)))


def _thoughts_of_texts(events: Sequence[Event]) -> list[Item]:
    """Keeps a thought for the text that follows, and loses the last one when none does."""
    last = max((place for place, event in enumerate(events) if isinstance(event, Text | ToolUse)), default=-1)
    return output_items(
        [event for place, event in enumerate(events) if not isinstance(event, Reasoning) or place < last]
    )


def _without_outputs(events: Sequence[Event]) -> list[Item]:
    return [item for item in output_items(events) if item["type"] != "function_call_output"]


def _without_failed_tools(events: Sequence[Event]) -> list[Item]:
    return output_items([event for event in events if not (isinstance(event, ToolUse) and event.failed)])


def _last_step(events: Sequence[Event]) -> Item:
    return usage([event for event in events if isinstance(event, StepFinish)][-1:])


def _without_thoughts(events: Sequence[Event]) -> Item:
    told = usage(events)
    written = told["output_tokens"] - told["output_tokens_details"]["reasoning_tokens"]
    return {**told, "output_tokens": written, "total_tokens": told["input_tokens"] + written}


def _none(*_: object) -> None:
    return None


def _length_is_fine(ran: Ran, _overflow: str | None, timeout: float) -> Failure | None:
    """Takes a run that came upon the end of the window for one that answered nothing."""
    overflowed = any(isinstance(event, Failed) and event.name == "ContextOverflowError" for event in ran.events)
    cut = any(isinstance(event, StepFinish) and event.reason == "length" for event in ran.events)
    return None if overflowed or cut else judge(ran, None, timeout)


def _vague(ran: Ran, _overflow: str | None, timeout: float) -> Failure | None:
    failure = judge(ran, None, timeout)
    return replace(failure, message="The run failed.") if failure else None


def _wordless(ran: Ran, overflow: str | None, timeout: float) -> Failure | None:
    failure = judge(ran, overflow, timeout)
    return replace(failure, message="") if failure and failure.code == "never_ran" else failure


def _zero_is_fine(ran: Ran, overflow: str | None, timeout: float) -> Failure | None:
    """Takes a run that ended with status 0 for finished when it printed nothing at all."""
    return None if ran.exit_status == 0 and not ran.events else judge(ran, overflow, timeout)


def _status_ignored(ran: Ran, overflow: str | None, timeout: float) -> Failure | None:
    spoke = any(isinstance(event, Text) for event in ran.events)
    return None if spoke and ran.exit_status is not None else judge(ran, overflow, timeout)


def _errors_ignored(ran: Ran, overflow: str | None, timeout: float) -> Failure | None:
    """Looks at the exit status alone, once there was an error."""
    failed = any(isinstance(event, Failed) for event in ran.events)
    return None if failed and ran.exit_status == 0 and overflow is None else judge(ran, overflow, timeout)


def _error_is_answer(ran: Ran, overflow: str | None, timeout: float) -> Failure | None:
    """Takes what the CLI tells of a failure for all that there is to say."""
    told = ran.exit_status is not None and any(isinstance(event, Failed) for event in ran.events)
    return None if told and overflow is None else judge(ran, overflow, timeout)


def _empty_is_none(ran: Ran, overflow: str | None, timeout: float) -> Failure | None:
    """Tells a run that answered nothing as one that never began."""
    began = any(isinstance(event, StepStart) for event in ran.events)
    spoke = any(isinstance(event, Text | Reasoning | ToolUse) for event in ran.events)
    if ran.exit_status == 0 and overflow is None and not spoke and (began or not ran.events):
        return Failure("never_ran", "The Kilo CLI gave no answer.")
    return judge(ran, overflow, timeout)


_PARSE, _BUDGET = "KA-PARSE-1", "KA-BUDGET-2"

ANSWERS: tuple[Mutant[Parts], ...] = (
    changing("doubled_events", "counts a repeated part again", _PARSE, distinct=_all),
    changing("broken_line_crashes", "crashes on a broken line", _PARSE, read_event=_strict),
    changing("any_role", "takes a user's text for the assistant's", _PARSE, read_event=_any_role, distinct=_all),
    changing("thoughts_last", "puts thoughts after everything", _PARSE, output_items=_texts_first),
    changing("last_thought_lost", "loses a thought that no text follows", _PARSE, output_items=_thoughts_of_texts),
    changing("tool_output_lost", "leaves out what tools gave", _PARSE, output_items=_without_outputs),
    changing("failed_tool_lost", "leaves out failed tools", _PARSE, output_items=_without_failed_tools),
    changing("usage_of_last_step", "counts the last step's tokens", _PARSE, usage=_last_step),
    changing("thoughts_uncounted", "counts no tokens of thoughts", _PARSE, usage=_without_thoughts),
    changing(
        "silent_zero",
        "is silent at the window's end",
        "KA-BUDGET-2",
        judge=_length_is_fine,
        overflow=_none,
        doubt=_none,
    ),
    changing("budget_unsaid", "does not name the budget", "KA-BUDGET-2", judge=_vague, overflow=_none, doubt=_none),
    changing("wordless", "says nothing of a run that never began", "KA-FAULT-1", judge=_wordless),
    changing("zero_is_fine", "trusts a status of 0", "KA-FAULT-1", "KA-FAULT-2", judge=_zero_is_fine),
    changing("status_ignored", "trusts a text", "KA-FAULT-1", "KA-FAULT-2", judge=_status_ignored),
    changing("errors_ignored", "trusts a status of 0 after an error", "KA-FAULT-2", judge=_errors_ignored),
    changing("error_is_answer", "takes a told error for an answer", "KA-FAULT-2", "KA-CONF-3", judge=_error_is_answer),
    changing("empty_is_none", "takes an empty answer for no run", "KA-FAULT-2", judge=_empty_is_none),
)
