from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from harness.reporting.badge import badge, endpoint_badge
from harness.reporting.conclusion import conclusion
from harness.results import Outcome
from harness.verdict import Status, Summary, summarise
from tests.sample_results import HOSTILE, result, results, waiver, with_verdicts

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize(
    ("verdicts", "outcome", "words", "colour"),
    [
        (("pass", "pass"), "finished", "conforms", "brightgreen"),
        (("pass", "fail"), "finished", "does not conform", "red"),
        (("fail",), "finished", "does not conform", "red"),
        (("not-measured",), "finished", "nothing measured", "orange"),
        (("pass", "error"), "finished", "harness error", "orange"),
        (("not-run",), "not-ready", "target not ready", "orange"),
        (("pass", "not-run"), "interrupted", "unfinished", "orange"),
        (("pass",), None, "unfinished", "orange"),
    ],
)
def test_badge_says_what_the_run_came_to(
    verdicts: tuple[Status, ...], outcome: Outcome | None, words: str, colour: str
) -> None:
    summary = with_verdicts(*verdicts, outcome=outcome)
    told = endpoint_badge(summary)
    passed = sum(verdict == "pass" for verdict in verdicts)
    assert conclusion(summary) == words
    assert told["message"] == f"{words}, {passed} of {len(verdicts)} MUSTs pass"
    assert (told["color"], told["isError"]) == (colour, summary.exit_code != 0)


def test_stale_waivers_make_a_yellow_badge() -> None:
    told = endpoint_badge(with_verdicts("pass", waivers=(waiver("AE-GROUP-1"),)))
    assert (told["message"], told["color"]) == ("conforms, stale waivers, 1 of 1 MUSTs pass", "yellow")


def test_endpoint_badge_is_of_the_form_that_shields_reads() -> None:
    told = endpoint_badge(with_verdicts("pass"))
    assert set(told) == {"schemaVersion", "label", "message", "color", "isError"}
    assert (told["schemaVersion"], told["label"]) == (1, "turnproof agent_endpoint")


def _image(summary: Summary) -> ET.Element:
    return ET.fromstring(badge(summary))


def test_image_says_the_same_to_eye_and_ear() -> None:
    image = _image(with_verdicts("pass", "fail"))
    texts = [text.text for text in image.iter(f"{SVG}text")]
    assert texts == ["turnproof agent_endpoint", "does not conform, 1 of 2 MUSTs pass"]
    assert image.get("aria-label") == ": ".join(text or "" for text in texts)
    assert image.get("role") == "img"


def test_image_needs_nothing_else() -> None:
    assert "href" not in badge(with_verdicts("pass"))
    assert badge(with_verdicts("pass")).count("http") == 1


def test_text_is_within_its_field() -> None:
    image = _image(with_verdicts("pass"))
    left, right = (float(rect.attrib["width"]) for rect in list(image.iter(f"{SVG}rect"))[1:])
    label, message = (float(text.attrib["textLength"]) for text in image.iter(f"{SVG}text"))
    assert label < left
    assert message < right
    assert float(image.attrib["width"]) == left + right


def test_hostile_suite_is_escaped() -> None:
    image = _image(summarise(results([result("a", ("AE-A-1",), "pass")], suite=f"<script>{HOSTILE}")))
    assert {element.tag.removeprefix(SVG) for element in image.iter()} == {
        "svg",
        "title",
        "clipPath",
        "rect",
        "g",
        "text",
    }


def test_the_badge_of_a_part_of_the_suite_says_so_and_is_not_green() -> None:
    part = endpoint_badge(with_verdicts("pass", whole=2))
    assert (part["message"], part["color"]) == ("conforms, 1 of 1 MUSTs pass, in a part of the suite", "yellow")
    assert endpoint_badge(with_verdicts("pass", "fail", whole=9))["color"] == "red"
