"""The documentation that comes with the package: the pages of `docs/`, by name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from harness.errors import UsageError

DOCS = Path(__file__).parent / "docs"

_REQUIREMENT = re.compile(r"[a-z]{2}-[a-z0-9]+-\d+", re.IGNORECASE)
_SECTION = re.compile(r"^(?=##)", re.MULTILINE)


def pages() -> Mapping[str, Path]:
    """Every page by its name, such as `targets`; that of a folder is the folder's."""
    found = {path.relative_to(DOCS).with_suffix("").as_posix(): path for path in DOCS.rglob("*.md")}
    return {name.removesuffix("/README"): found[name] for name in sorted(found)}


def page(name: str) -> Path:
    """The page of that name, also when it is written as a file; raises UsageError when there is none."""
    wanted = name.removeprefix("docs/").removesuffix(".md").removesuffix("/README")
    if wanted not in pages():
        raise UsageError(f"no page is called {name!r}", f"the pages are: {', '.join(pages())}")
    return pages()[wanted]


def text(name: str) -> str:
    """The Markdown of the page of that name, or what the page of requirements says of one, by its id.

    Raises UsageError when there is neither.
    """
    if not _REQUIREMENT.fullmatch(name):
        return page(name).read_text(encoding="utf-8")
    for section in _SECTION.split(page("requirements").read_text(encoding="utf-8")):
        if section.partition("\n")[0] == f"### {name.upper()}":
            return section
    raise UsageError(f"no requirement is called {name!r}", "turnproof docs requirements lists them all")


def title(path: Path) -> str:
    """What a page is headed."""
    with path.open(encoding="utf-8") as lines:
        return next(line.removeprefix("# ").strip() for line in lines if line.startswith("# "))
