"""Broken Kilo CLIs, each a small change to what the stand-in's `behaviour.json` says."""

from __future__ import annotations

from typing import Any

from harness.mutants.mutant import Mutant, named

Told = dict[str, Any]


def _rules(name: str, does: str, *caught_by: str, **rules: Any) -> Mutant[Told]:
    return Mutant(name, does, frozenset(caught_by), lambda told: {**told, "rules": rules})


def _faults(name: str, does: str, *caught_by: str, **faults: Any) -> Mutant[Told]:
    return Mutant(name, does, frozenset(caught_by), lambda told: {**told, "faults": faults})


_ELSEWHERE = {"telemetry": [], "catalogue": [], "gateway": [], "always": ["elsewhere.invalid"]}
_OTHER_FIELD = {"": "reasoning", "reasoning_content": "reasoning_content", "reasoning": "reasoning"}
_NO_FIELD = {"": "", "reasoning_content": "", "reasoning": ""}

FLAWS: tuple[Mutant[Told], ...] = (
    _faults("last_slash", "splits the model's name at the last slash", "KC-SPLIT-1", split_at_last=True),
    _rules("missing_exit_0", "exits with 0 when there is no such model", "KC-SPLIT-2", not_found=0),
    _faults("falls_back", "takes an unlisted model for one without limits", "KC-SPLIT-2", falls_back=True),
    _rules("window_ignored", "asks for more than the window leaves", "KC-BUDGET-1", window=False),
    _faults("default_4096", "asks for 4096 tokens when nothing is said", "KC-BUDGET-1", default_budget=4096),
    _rules("no_compaction", "gives up on the first refusal for the window", "KC-BUDGET-2", compacts=False),
    _rules("silent_zero", "ends well and without a word on an empty answer", "KC-BUDGET-2", empty=0),
    _rules("thinks_aloud", "tells reasoning that nobody asked for", "KC-REASON-1", needs_thinking=False),
    _rules(
        "one_field",
        "reads reasoning from one field only",
        "KC-REASON-1",
        "KC-REASON-2",
        reasoning_fields=["reasoning_content"],
    ),
    _rules("other_field", "sends reasoning back under another field", "KC-REASON-2", sent_back=_OTHER_FIELD),
    _rules(
        "forgets_reasoning",
        "sends no reasoning back",
        "KC-REASON-2",
        sent_back=_NO_FIELD,
    ),
    _rules("no_measures", "does not tell how long a step took", "KC-EVENTS-1", measures=False),
    _rules("counts_twice", "counts reasoning as output too", "KC-EVENTS-1", output_without=False),
    _rules("partial_lost", "loses the text before an error in the stream", "KC-EVENTS-1", keeps_partial=False),
    _rules("asks_again", "asks the model again after a stream without an end", "KC-EVENTS-1", asks_again=True),
    _rules("rejected_exit_0", "exits with 0 after a permission was refused", "KC-EVENTS-1", rejected=0),
    _faults("chats", "prints lines that are no events", "KC-EVENTS-1", line_between="working ..."),
    _faults("doubled", "prints part events twice", "KC-EVENTS-1", "KC-BUDGET-2", "KC-REASON-1", repeats=2),
    _rules("refusal_exit_0", "exits with 0 after a refusal", "KC-EVENTS-1", "KC-BUDGET-2", failed=0),
    _rules("quotes", "wraps a prompt in quotes", "KC-EVENTS-2", quotes=True),
    _faults("trims", "drops white space around a prompt", "KC-EVENTS-2", trims=True),
    _faults("takes_empty", "runs a turn for an empty prompt", "KC-EVENTS-2", takes_empty=True),
    _faults("reads_user", "reads the user's configuration", "KC-ISO-1", reads_user=True),
    _faults("writes_user", "writes into the user's configuration folder", "KC-ISO-1", writes_user=True),
    _faults("shares", "tells the model what the last run was asked", "KC-ISO-1", shares=True),
    _rules("calls_elsewhere", "asks for another host, whatever is switched off", "KC-NET-1", hosts=_ELSEWHERE),
    _faults("lists_models", "asks the provider for its models", "KC-NET-1", "KC-BUDGET-2", lists_models=True),
)


def find(name: str) -> Mutant[Told]:
    """The flaw of that name; raises UsageError."""
    return named(name, FLAWS)
