from __future__ import annotations

from harness.record.versions_page import PAGE, page, recorded_versions


def test_the_committed_page_is_what_the_recordings_say() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(recorded_versions())


def test_a_page_names_what_differs() -> None:
    call: dict[str, object] = {"asked": "GET /x", "sent": None, "headers": {}}
    before, after = (
        {"x": {"about": "A thing", "calls": [{**call, "status": status}], "streams": [], "model": []}}
        for status in (200, 404)
    )
    text = page({"1.0.0": before, "1.0.1": after})
    assert "### A thing (`x`)" in text
    assert '+ GET /x null -> 404 {"headers":{}}' in text
