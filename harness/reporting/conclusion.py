"""What a run came to, in a word and a colour: the same in every report."""

from __future__ import annotations

from harness.verdict import Summary

WORDS = {
    0: "conforms",
    1: "does not conform",
    3: "target not ready",
    4: "harness error",
    5: "conforms, stale waivers",
    6: "nothing measured",
    130: "unfinished",
}
"""The words for each exit code that a run with results has."""

_COLOURS = {0: "brightgreen", 1: "red", 5: "yellow"}


def conclusion(summary: Summary) -> str:
    """The run's exit code in a few words, such as `does not conform`."""
    return WORDS[summary.exit_code]


def colour(summary: Summary) -> str:
    """The colour of that, as shields.io names it; grey-red shades are left to verdicts that were reached."""
    return _COLOURS.get(summary.exit_code, "orange")
