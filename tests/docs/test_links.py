"""Every link of the documentation leads to a file that is there, and to a heading that is in it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.pages import PAGES, ROOT, prose

_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#{1,6}\s+(.*)$", re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """What GitHub makes of the headings of a page."""
    found: set[str] = set()
    for heading in _HEADING.findall(prose(page)):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", plain.strip().lower()).replace(" ", "-")
        number, unique = 0, slug
        while unique in found:
            number += 1
            unique = f"{slug}-{number}"
        found.add(unique)
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    broken = []
    for link in _LINK.findall(prose(page)):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        file = (page.parent / name).resolve() if name else page
        inside = file.is_relative_to(ROOT) and file.exists()
        if not inside or (anchor and anchor not in anchors(file)):
            broken.append(link)
    assert broken == []


def test_every_page_of_the_documentation_can_be_come_to_from_the_readme() -> None:
    reached, waiting = set(), [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page in reached or page.suffix != ".md":
            continue
        reached.add(page)
        links = (link.partition("#")[0] for link in _LINK.findall(prose(page)) if not re.match(r"[a-z]+:", link))
        waiting += [path for name in links if name and (path := (page.parent / name).resolve()).exists()]
    assert {page for page in PAGES if page.is_relative_to(ROOT / "docs")} - reached == set()
