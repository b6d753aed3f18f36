"""Whether the output that a model may write fits its context window beside what it is asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.reference.kilo.config import Config
from harness.reference.kilo.events import Event, Failed, Reasoning, StepFinish, Text, ToolUse
from harness.reference.kilo.routing import PROVIDER
from harness.reference.kilo.settings import Settings

KILO_TOKENS = 12_000
"""About so many tokens are Kilo's own: its system prompt and the descriptions of its tools."""

_KILO_CAP = 32_000
_CHARACTERS_PER_TOKEN = 4
_OVERFLOWS = ("context length", "context window", "max_tokens", "maximum context")


def doubt(config: Config, settings: Settings | None, prompt: str) -> str | None:
    """What to say before a run whose output budget is likely not to fit the window; None when it is likely to."""
    context, output = _limits(config, settings)
    budget = min(output, _KILO_CAP) or _KILO_CAP
    asked = KILO_TOKENS + len(prompt) // _CHARACTERS_PER_TOKEN
    if context <= 0 or asked + budget <= context:
        return None
    return (
        f"The output budget of {budget} tokens is not likely to fit: with about {asked} tokens of prompt it is beyond "
        f"the context window of {context} tokens. Set max_output_tokens lower."
    )


def overflow(config: Config, settings: Settings | None, events: Sequence[Event]) -> str | None:
    """What to say after a run that came upon the end of the window; None when it did not."""
    context, output = _limits(config, settings)
    if not _cut(events) and not _unmended(events):
        return None
    return (
        f"The output budget does not fit the context window: the model server had no room for {output} tokens of "
        f"output beside the prompt (context window {context}). Set max_output_tokens lower."
    )


def _cut(events: Sequence[Event]) -> bool:
    """Whether the last step ended for its length before anything was in it."""
    steps = [event for event in events if isinstance(event, StepFinish)]
    if not steps or steps[-1].reason != "length":
        return False
    parts = [event for event in events if isinstance(event, Text | Reasoning | ToolUse)]
    return all(part.message != steps[-1].message for part in parts)


def _unmended(events: Sequence[Event]) -> bool:
    """Whether the window was overrun, and nothing was said thereafter: a compaction may mend it."""
    for event in reversed(events):
        if isinstance(event, Text):
            return False
        if isinstance(event, Failed) and _tells(event):
            return True
    return False


def _tells(failed: Failed) -> bool:
    return failed.name == "ContextOverflowError" or any(word in failed.message.lower() for word in _OVERFLOWS)


def _limits(config: Config, settings: Settings | None) -> tuple[int, int]:
    """The limits that `kilo.json` gives the model: context and output."""
    provider, model = (PROVIDER, config.model) if config.model_server else config.model.partition("/")[::2]
    found: Any = settings or {}
    for name in ("provider", provider, "models", model, "limit"):
        found = found.get(name) if isinstance(found, dict) else None
    limit = found if isinstance(found, dict) else {}
    return int(limit.get("context") or 0), int(limit.get("output") or 0)
