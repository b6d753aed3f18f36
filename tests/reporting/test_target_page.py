from __future__ import annotations

import re

import pytest

from harness.reporting.target_page import PAGE, in_step, schema_tables
from harness.target_schema import target_schema


def test_page_is_in_step_with_the_schema() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == in_step(page), "write it anew: python -m harness.reporting.target_page"


def test_page_has_every_table() -> None:
    there = re.findall(r"<!-- from the schema: (.*?) -->", PAGE.read_text(encoding="utf-8"))
    assert sorted(there) == sorted(schema_tables())


def test_table_that_there_is_not_is_refused() -> None:
    with pytest.raises(KeyError):
        in_step("<!-- from the schema: nothing -->\n<!-- end -->")


def test_every_key_of_a_target_file_has_a_meaning() -> None:
    schema = target_schema()
    tables = [schema, *(d for name, d in schema["$defs"].items() if "properties" in d and name != "facts")]
    assert all("description" in key or "x-values" in key for table in tables for key in table["properties"].values())


def test_links_of_the_meanings_lead_somewhere() -> None:
    page = PAGE.read_text(encoding="utf-8")
    headings = {
        re.sub(r"[^\w -]", "", line).strip().lower().replace(" ", "-") for line in re.findall("^#+ (.*)", page, re.M)
    }
    assert set(re.findall(r"\]\(#([\w-]+)\)", page)) <= headings
