"""The page `docs/opencode-versions.md`: how the recorded opencode versions differ.

`python -m harness.record.versions_page` writes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from harness.record.compare import UNSETTLED, differences
from harness.record.recording import read, versions

PAGE = Path(__file__).parents[2] / "docs" / "opencode-versions.md"

_SHOWN = 12
_WIDTH = 220
_INTRO = """# opencode, version by version

What `turnproof record` saw of each version, against the one before it. Only what differs is here; whatever no section
names came out the same. This page is made from the recordings in `fixtures/recordings` by
`python -m harness.record.versions_page`; do not edit it.
"""


def page(recorded: Mapping[str, Mapping[str, Any]]) -> str:
    """The page for recordings by version, oldest first, and by scenario."""
    sections = [_section(one, other, recorded[one], recorded[other]) for one, other in pairwise(recorded)]
    known = ", ".join(f"{version} ({len(kept)} scenarios)" for version, kept in recorded.items())
    unsettled = ", ".join(f"`{name}`" for name in sorted(UNSETTLED))
    return "\n".join([_INTRO, f"Recorded: {known}. Left out, because chance decides them: {unsettled}.", *sections, ""])


def _section(one: str, other: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    lines = [f"\n## From {one} to {other}\n"]
    same = 0
    for name in after:
        if name in UNSETTLED or name not in before:
            continue
        changed = differences(before[name], after[name])
        same += not changed
        lines += _difference(after[name]["about"], name, changed) if changed else []
    return "\n".join([*lines, f"{same} scenarios came out the same."])


def _difference(about: str, name: str, changed: Iterable[str]) -> list[str]:
    shown = [line.rstrip() for line in changed]
    more = [f"… and {len(shown) - _SHOWN} lines more"] if len(shown) > _SHOWN else []
    return [f"### {about} (`{name}`)\n", "```diff", *(_cut(line) for line in shown[:_SHOWN]), *more, "```\n"]


def _cut(line: str) -> str:
    return line if len(line) <= _WIDTH else f"{line[:_WIDTH]}…"


def recorded_versions() -> dict[str, dict[str, Any]]:
    """All recordings, by version and scenario."""
    return {version: read(version) for version in versions()}


if __name__ == "__main__":
    PAGE.write_text(page(recorded_versions()), encoding="utf-8")
