"""A badge: as an SVG image, and as the JSON that an endpoint badge of shields.io is made from."""

from __future__ import annotations

from typing import Any

from harness.reporting.conclusion import colour, conclusion
from harness.reporting.headline import in_part
from harness.reporting.templates import rendered
from harness.reporting.visible import one_line, shortened
from harness.verdict import CONFORMS, Summary

_CHARACTERS = 40
_HEX = {"brightgreen": "#3a7d0a", "red": "#c62828", "yellow": "#8a6d00", "orange": "#b3510a"}
"""Each dark enough to carry white text, which the colours of shields.io are not."""

_NARROW, _WIDE = "fijlrt.,:;!|/()[] I", "mwMW@%_"
_PADDING = 6


def endpoint_badge(summary: Summary) -> dict[str, Any]:
    """The object that `https://img.shields.io/endpoint?url=...` reads."""
    return {
        "schemaVersion": 1,
        "label": _label(summary),
        "message": _message(summary),
        "color": _colour(summary),
        "isError": summary.exit_code != CONFORMS,
    }


def badge(summary: Summary) -> str:
    """The badge as an SVG document that needs nothing else."""
    label, message = _label(summary), _message(summary)
    left, right = _width(label), _width(message)
    return rendered(
        "badge.svg",
        label=label,
        message=message,
        colour=badge_colour(summary),
        left=left,
        right=right,
        padding=_PADDING,
    )


def badge_colour(summary: Summary) -> str:
    """The colour of the run's conclusion, for the web."""
    return _HEX[_colour(summary)]


def _label(summary: Summary) -> str:
    return shortened(one_line(f"turnproof {summary.results.header.suite}"), _CHARACTERS)


def _message(summary: Summary) -> str:
    musts = summary.musts
    return f"{conclusion(summary)}, {musts.passed} of {musts.applicable} MUSTs pass{in_part(summary)}"


def _colour(summary: Summary) -> str:
    """That of the conclusion; a part of the suite says too little for the colour of a run that conforms."""
    return "yellow" if summary.exit_code == CONFORMS and summary.results.header.partial else colour(summary)


def _width(text: str) -> int:
    """About how wide a text is in 11 pixels of Verdana, with its padding; the image stretches it to exactly that."""
    tenths = sum(43 if c in _NARROW else 95 if c in _WIDE else 69 for c in text)
    return 2 * _PADDING + round(tenths / 10)
