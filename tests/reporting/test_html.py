from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from harness.reporting.html import html
from harness.results import CheckResult
from harness.verdict import STATUSES, Status, Summary, summarise
from tests.sample_results import (
    exchange,
    finding,
    hostile_summary,
    mixed_summary,
    result,
    results,
    waiver,
    with_verdicts,
)

CSS = (Path(__file__).parents[2] / "reports" / "report.css").read_text(encoding="utf-8")
ATTACK = "</pre></script><script>alert(1)</script><img src=x onerror=alert(2)>\"' onfocus=alert(3) {{ 7*7 }} {% if %}"
VOID = {"meta", "input", "br", "link", "img"}


class Page(HTMLParser):
    """The page as a browser takes it: every tag with its attributes, the texts, and whether all tags are closed."""

    def __init__(self, summary: Summary) -> None:
        super().__init__()
        self.source = html(summary)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self._open: list[str] = []
        self.feed(self.source)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append((self._open[-1] if self._open else "", data))

    def values(self, attribute: str) -> list[str]:
        return [attrs[attribute] or "" for _, attrs in self.tags if attribute in attrs]

    def text_in(self, tag: str) -> list[str]:
        return [text for of, text in self.texts if of == tag]


def _failing(text: str) -> Summary:
    """A run in which everything that comes from outside is `text`."""
    shown = exchange(1, chunks=[text.encode()], headers=((text, text),), error=text)
    failed = result("c1", ("AE-A-1",), "fail", finding(1, expected=text, came=text, mend=text))
    checks = [
        replace(failed, output=text),
        replace(failed, check="c3", output=text),
        result("c2", ("AE-A-2",), "not-measured", reason=text),
    ]
    header: dict[str, Any] = {"suite": text, "harness": text, "run": text, "parts": ({"name": text, "version": text},)}
    return summarise(results(checks, exchanges=[shown], strays=(1,), **header))


def test_page_is_whole_for_every_status() -> None:
    page = Page(with_verdicts(*STATUSES, outcome=None))
    assert page.text_in("h1")[0].startswith("sample: unfinished: 7 of 8 checks were made")


def test_failure_tells_expected_came_mend_and_exchange() -> None:
    page = Page(mixed_summary())
    told = page.text_in("pre")
    assert "status 401" in told
    assert "Check the key before the model." in told
    assert any(text.startswith("#7 turnproof -> target") for text in told)


def test_failures_that_decide_come_first() -> None:
    titles = [text.strip() for text in Page(mixed_summary()).text_in("h3")]
    assert titles == ["title of a1", "title of s1", "title of t1", "title of a3"]


def test_waived_failure_says_by_whom_and_what_came() -> None:
    page = Page(with_verdicts("pass", "waived"))
    assert {"status 401", "until 2026-12-31 by Jo: the vendor has to mend it (https://example.org/1)"} <= set(
        page.text_in("pre")
    )
    assert ["does not decide" in text for text in page.text_in("p")].count(True) == 0


def test_waiver_that_is_to_be_mended_is_told() -> None:
    page = Page(with_verdicts("pass", waivers=(waiver("AE-GROUP-1"),)))
    assert "the waiver of AE-GROUP-1 names what no longer fails: remove it" in page.text_in("li")


def test_every_requirement_has_its_entry_with_its_verdict() -> None:
    page = Page(mixed_summary())
    found = {
        attrs["id"]: (attrs["class"] or "") for tag, attrs in page.tags if "requirement" in (attrs.get("class") or "")
    }
    assert found == {row.requirement.id: f"requirement {row.verdict}" for row in mixed_summary().rows}


def test_what_was_not_measured_says_why() -> None:
    assert "no revoked key can be minted" in Page(mixed_summary()).text_in("small")


@pytest.mark.parametrize("verdicts", [("pass", "fail"), STATUSES])
def test_each_verdict_that_is_there_has_a_filter(verdicts: tuple[Status, ...]) -> None:
    page = Page(with_verdicts(*verdicts))
    filters = [id_.removeprefix("show-") for id_ in page.values("id") if id_.startswith("show-")]
    assert filters[0] == "all"
    assert sorted(filters[1:]) == sorted(verdicts)
    for verdict in verdicts:
        assert f"body:has(#show-{verdict}:checked) :is(.requirement, .failure):not(.{verdict})," in page.source
        assert f"body:has(#show-{verdict}:checked) .section:not(:has(.{verdict})) {{ display: none; }}" in page.source


def test_links_lead_to_what_is_on_the_page() -> None:
    page = Page(mixed_summary())
    ids = Counter(page.values("id"))
    assert set(ids.values()) == {1}
    assert {link.removeprefix("#") for link in page.values("href")} <= set(ids)
    assert {id_ for value in page.values("aria-labelledby") for id_ in value.split()} <= set(ids)


def test_failures_that_are_alike_are_one_with_the_others_below_it() -> None:
    checks = [result(name, ("AE-A-1",), "fail", finding(2, came=f"{name} came")) for name in "fgh"]
    page = Page(summarise(results(checks, exchanges=[exchange(2)])))
    assert [attrs["id"] for tag, attrs in page.tags if tag == "article"] == ["check-1"]
    assert "The same in 2 more" in page.text_in("summary")
    assert [text for text in page.text_in("small") if text.endswith("came")] == ["g came", "h came"]
    assert page.values("href")[1:] == ["#check-1", "#check-2", "#check-3"]


def test_failure_shows_what_belongs_to_it_below_its_account() -> None:
    told = [text for text in Page(mixed_summary()).text_in("summary") if text.startswith("The ")]
    assert told[:2] == ["The exchange that shows it, #7", "The end of what the target wrote"]


def test_page_needs_nothing_else() -> None:
    page = Page(mixed_summary())
    assert not {"src", "srcset", "action"} & {name for _, attrs in page.tags for name in attrs}
    assert not re.search(r"https?://|url\(|@import", page.source)


def test_policy_of_the_page_lets_no_script_but_ours_run() -> None:
    page = Page(mixed_summary())
    (script,) = page.text_in("script")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    (policy,) = [
        attrs["content"] or "" for tag, attrs in page.tags if attrs.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy == f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; base-uri 'none'"


@pytest.mark.parametrize("text", [ATTACK, "javascript:alert(1)", "--><!--", "]]>", "&lt;b&gt;"])
def test_hostile_content_changes_nothing_but_texts(text: str) -> None:
    page, harmless = Page(_failing(text)), Page(_failing("harmless"))
    assert [(tag, list(attrs)) for tag, attrs in page.tags] == [(tag, list(attrs)) for tag, attrs in harmless.tags]
    assert page.values("href") == harmless.values("href")
    assert text in page.text_in("pre")
    assert page.text_in("script") == harmless.text_in("script")


def test_control_characters_are_written_out() -> None:
    source = Page(hostile_summary()).source
    assert re.findall(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2028\ud800-\udfff]", source) == []


def test_page_says_language_title_and_landmarks() -> None:
    page = Page(mixed_summary())
    assert ("html", {"lang": "en"}) in page.tags
    assert {"header", "main", "footer", "h1"} <= {tag for tag, _ in page.tags}
    assert page.text_in("title")[0].startswith("sample does not conform")


def test_every_field_has_a_label() -> None:
    page = Page(mixed_summary())
    assert page.source.count("<input ") == len(re.findall(r"<label[^>]*>[^\n]*<input ", page.source))


def _colours(scheme: str) -> dict[str, str]:
    return dict(re.findall(r"--([a-z]+): (#[0-9a-f]{3,6})", scheme))


def _luminance(colour: str) -> float:
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    parts = [int(digits[place : place + 2], 16) / 255 for place in (0, 2, 4)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_every_colour_of_text_can_be_read(scheme: int) -> None:
    colours = _colours(CSS.split("@media")[scheme])
    for name in ("text", "quiet", "link", "pass", "fail", "error", "unsure", "absent", "waived"):
        for ground in ("ground", "raised"):
            light, dark = sorted((_luminance(colours[name]), _luminance(colours[ground])), reverse=True)
            assert (light + 0.05) / (dark + 0.05) >= 4.5, (name, ground)


def test_every_verdict_has_a_colour() -> None:
    for status in STATUSES:
        assert re.search(rf"\.verdict(\.{status}\b|:is\([^)]*\.{status}\b)", CSS), status


def _loud(number: int) -> CheckResult:
    failed = result(f"c{number}", (f"AE-A-{number}",), "fail", finding(number, came="x" * 100_000))
    return replace(failed, output="z" * 4000)


def test_large_run_makes_a_page_that_a_browser_takes() -> None:
    checks = [_loud(n) for n in range(1, 300)]
    summary = summarise(results(checks, exchanges=[exchange(n, chunks=[b"y" * 100_000]) for n in range(1, 300)]))
    assert len(html(summary)) < 5_000_000
