"""The documentation that comes with the package: the pages of `docs/`, by name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from harness.errors import UsageError

DOCS = Path(__file__).parent / "docs"


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


def title(path: Path) -> str:
    """What a page is headed."""
    with path.open(encoding="utf-8") as lines:
        return next(line.removeprefix("# ").strip() for line in lines if line.startswith("# "))
