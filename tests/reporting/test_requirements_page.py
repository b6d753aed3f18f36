from __future__ import annotations

from pathlib import Path

from harness.reporting.__main__ import page
from harness.reporting.requirements_page import requirements_page
from harness.requirements import Requirement
from harness.results import Planned

DOCS = Path(__file__).parents[2] / "docs"
ROW = Requirement("XX-ONE-1", "MUST", "It holds.", ("O",), "mint")


def test_page_in_the_docs_is_the_one_of_the_catalogue() -> None:
    assert (DOCS / "requirements.md").read_text(encoding="utf-8") == page()


def test_requirement_names_its_checks_and_mutants() -> None:
    planned = [Planned("xx/test_one.py::test_it[a]", (ROW.id,), "it (a)"), Planned("xx/test_two.py::test_b", (), "b")]
    text = requirements_page({"xx": [ROW]}, {"xx": planned}, {ROW.id: ["broken"]})
    assert "MUST, for targets with `mint`. It holds." in text
    assert "- check [test_one.py](../suites/xx/test_one.py): `test_it`\n- mutants that it catches: `broken`" in text
