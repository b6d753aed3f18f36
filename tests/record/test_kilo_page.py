from __future__ import annotations

from harness.record.kilo_page import PAGE, page, recorded_page


def test_the_page_in_the_docs_is_the_one_of_the_recordings() -> None:
    assert PAGE.read_text(encoding="utf-8") == recorded_page()


def test_versions_that_do_the_same_have_nothing_to_tell() -> None:
    assert "From" not in page({}, {})
