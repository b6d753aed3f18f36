from __future__ import annotations

import re

import pytest
from syrupy.assertion import SnapshotAssertion

from harness.cell import Plan, Shard, Share
from harness.reporting.blocks import LIMIT
from harness.reporting.markdown import markdown
from harness.results import CheckResult, Planned
from harness.verdict import Summary, summarise
from tests.sample_results import (
    exchange,
    finding,
    hostile_summary,
    mixed_summary,
    requirement,
    result,
    results,
    waiver,
    with_verdicts,
)


def _failing(count: int, body: bytes = b"no", came: str = "status 404") -> Summary:
    checks: list[CheckResult] = [
        result(f"c{number}", (f"AE-A-{number}",), "fail", finding(number, came=came)) for number in range(1, count + 1)
    ]
    exchanges = [exchange(number, chunks=[body]) for number in range(1, count + 1)]
    return summarise(results(checks, exchanges=exchanges))


def _lines(summary: Summary) -> list[str]:
    return markdown(summary).split("\n")


def test_summary_of_a_whole_run(snapshot: SnapshotAssertion) -> None:
    assert markdown(mixed_summary()) == snapshot


def test_failures_that_are_alike_are_told_once_with_the_names_of_all() -> None:
    checks = [result(name, ("AE-A-1",), "fail", finding()) for name in "fgh"]
    text = markdown(summarise(results(checks)))
    assert text.count("expected: status 401") == 1
    assert "\nThe same in 2 more: title of g; title of h\n" in text


def test_headline_comes_first() -> None:
    assert _lines(with_verdicts("pass"))[0] == "# sample conforms: the only MUST passes (1 of 1 measured)"


def test_requirement_has_a_row() -> None:
    assert "| GROUP | AE-GROUP-1 | MUST | pass | 1 of 1 | The statement of AE-GROUP-1. |" in _lines(
        with_verdicts("pass")
    )


def test_row_of_a_passing_requirement_says_what_was_not_measured() -> None:
    checks = [result("p", ("AE-A-1",), "pass"), result("n", ("AE-A-1",), "not-measured")]
    assert "| pass (1 not measured) | 1 of 2 |" in markdown(summarise(results(checks)))


def test_target_and_parts_are_named() -> None:
    lines = _lines(with_verdicts("pass"))
    assert "| target | sample (agent-endpoint) |" in lines
    assert "| part opencode | 1.18.33, sha256:abc |" in lines


def test_shard_is_named() -> None:
    share = Share("sha256:0", Shard(2, 5), Plan((), ()))
    assert "| suite | agent\\_endpoint, shard 2/5 |" in _lines(with_verdicts("pass", share=share))
    assert "| suite | agent\\_endpoint |" in _lines(with_verdicts("pass"))


def test_options_that_change_the_verdict_are_named() -> None:
    assert "| turnproof | 0.1.0, strict, require all |" in _lines(with_verdicts("pass", strict=True, require_all=True))


def test_failure_tells_expected_came_mend_and_exchange() -> None:
    assert (
        markdown(_failing(1))
        .partition("## Failures\n\n")[2]
        .startswith(
            "### AE-A-1: title of c1 (MUST, fail)\n\n"
            "```text\nexpected: status 401\ncame:     status 404\nmend:     Check the key before the model.\n```\n\n"
            "<details><summary>the exchange that shows it, #1</summary>\n\n```text\n#1 turnproof -> target\n"
        )
    )


def test_failure_of_a_may_says_that_it_does_not_decide() -> None:
    assert "(MAY, fail, does not decide)" in markdown(with_verdicts("fail", level="MAY"))


def test_unmeasured_checks_are_named_one_by_one() -> None:
    lines = _lines(with_verdicts("pass", "not-measured", "not-measured"))
    assert [line for line in lines if line.startswith("- ")] == [
        "- AE-GROUP-2: title of check AE-GROUP-2 - because",
        "- AE-GROUP-3: title of check AE-GROUP-3 - because",
    ]


def test_strays_are_named() -> None:
    stray = exchange(5, hop="model", status=200)
    summary = summarise(results([result("p", ("AE-A-1",), "pass")], exchanges=[stray], strays=(5,)))
    assert "- \\#5 on the hop model: POST /v1/chat/completions, 200" in _lines(summary)


@pytest.mark.parametrize("ticks", ["```", "`````", "```\n```` \n~~~"])
def test_fence_is_longer_than_any_in_its_content(ticks: str) -> None:
    text = markdown(_failing(1, came=f"a\n{ticks}\nb"))
    fence = re.search(r"^(`+)text\nexpected", text, re.MULTILINE)
    assert fence is not None
    assert len(fence[1]) > max(map(len, re.findall("`+", ticks)))


def test_hostile_text_outside_fences_is_escaped() -> None:
    text = markdown(hostile_summary())
    reason = next(line for line in text.split("\n") if line.startswith("- AE-AUTH-3"))
    assert "\\[red\\]x\\[/red\\] \\`y\\` \\`\\`\\` \\| \\<b\\>\\&\\\\x00\\\\x1b" in reason


def test_hostile_text_is_printable() -> None:
    assert all(line.isprintable() for line in _lines(hostile_summary()))


def test_small_summary_is_not_shortened() -> None:
    assert "So that it can be shown" not in markdown(_failing(3))


@pytest.mark.parametrize(
    ("count", "note"),
    [
        (30, "bodies are shortened further"),
        (60, "bodies are shortened to a few words"),
        (100, "exchanges are left out"),
    ],
)
def test_bodies_are_shortened_first_and_then_exchanges(count: int, note: str) -> None:
    text = markdown(_failing(count, body=b"y" * 5000))
    assert note in text
    assert text.count("### AE-A-") == count


@pytest.mark.parametrize("count", [1, 30, 100, 300, 1000])
@pytest.mark.parametrize("letter", ["x", "漢", "`"])
def test_summary_always_fits(count: int, letter: str) -> None:
    text = markdown(_failing(count, body=(letter * 5000).encode(), came=letter * 3000))
    assert len(text.encode()) < LIMIT


def test_huge_reason_leaves_room_for_the_rest() -> None:
    absent = result("n", ("AE-A-1",), "not-measured", reason="x" * 100_000)
    assert "Cut off here" not in markdown(summarise(results([absent])))


def test_huge_title_leaves_room_for_the_rest() -> None:
    planned = Planned("c", ("AE-A-1",), "x" * 100_000)
    failed = result("c", ("AE-A-1",), "fail", finding())
    sample = results([planned])
    text = markdown(summarise(type(sample)(sample.header, (failed,), footer=sample.footer)))
    assert "Cut off here" not in text


def test_summary_that_is_cut_says_so() -> None:
    assert _lines(_failing(1000))[-2] == "**Cut off here: the rest did not fit.**"


def test_requirement_without_a_check_is_not_run() -> None:
    text = markdown(summarise(results(requirements=[requirement("AE-A-1")])))
    assert "| A | AE-A-1 | MUST | **not-run** | 0 of 0 |" in text


def test_waived_failures_and_waivers_to_mend_are_listed() -> None:
    lines = _lines(with_verdicts("pass", "waived", waivers=(waiver("AE-GROUP-2"), waiver("AE-GROUP-1"))))
    told = "until 2026-12-31 by Jo: the vendor has to mend it (https://example.org/1)"
    assert f"- AE-GROUP-2: title of check AE-GROUP-2 - {told}" in lines
    assert "- the waiver of AE-GROUP-1 names what no longer fails: remove it" in lines
    assert "| GROUP | AE-GROUP-2 | MUST | **waived** | 0 of 1 | The statement of AE-GROUP-2. |" in lines
