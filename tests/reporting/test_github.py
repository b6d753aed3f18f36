from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.reporting.github import SUMMARY_BYTES, commands, outputs, tell
from harness.verdict import Summary, summarise
from tests.sample_results import exchange, finding, hostile_summary, requirement, result, results, with_verdicts


def _read(text: str) -> dict[str, str]:
    """What GitHub makes of the text of `GITHUB_OUTPUT`."""
    found, lines = {}, iter(text.splitlines())
    for line in lines:
        name, _, delimiter = line.partition("<<")
        value = []
        while (line := next(lines)) != delimiter:
            value.append(line)
        found[name] = "\n".join(value)
    return found


def _failing(count: int) -> Summary:
    failed = [result(f"c{number}", (f"AE-A-{number}",), "fail", finding()) for number in range(count)]
    return summarise(results([result("p", ("AE-B-1",), "pass"), *failed]))


def test_failure_is_an_error_with_its_account() -> None:
    told = commands(with_verdicts("pass", "fail"))
    assert told.startswith("::error title=AE-GROUP-2%3A title of check AE-GROUP-2::expected: status 401%0Acame: ")
    assert told.count("\n") == 1


def test_run_that_conforms_is_a_notice() -> None:
    assert (
        commands(with_verdicts("pass"))
        == "::notice title=turnproof::sample conforms: the only MUST passes (1 of 1 measured)\n"
    )


def test_failure_that_does_not_decide_is_no_error() -> None:
    rows = [requirement("AE-A-1"), requirement("AE-A-2", "SHOULD")]
    checks = [result("p", ("AE-A-1",), "pass"), result("f", ("AE-A-2",), "fail", finding())]
    assert "::error" not in commands(summarise(results(checks, rows)))


def test_run_that_cannot_be_judged_is_an_error() -> None:
    assert "::error title=turnproof%3A the run can be judged::sample: unfinished: " in commands(
        with_verdicts("pass", outcome=None)
    )


def test_run_that_ended_early_says_so_first_and_once() -> None:
    lines = commands(with_verdicts("pass", "fail", "not-run", "not-run", outcome="interrupted")).splitlines()
    assert ["the run can be judged" in line for line in lines] == [True, False]


def test_errors_that_would_not_be_shown_are_counted() -> None:
    lines = commands(_failing(12)).splitlines()
    assert len(lines) == 10
    assert lines[-1] == "::error title=turnproof::and 3 more: see the job's summary"


def test_ten_errors_are_all_shown() -> None:
    lines = commands(_failing(10)).splitlines()
    assert len(lines) == 10
    assert "more" not in lines[-1]


def _hostile(text: str) -> Summary:
    return summarise(results([result("a", ("AE-A-1",), "fail", finding(1, came=text))], exchanges=[exchange(1)]))


@pytest.mark.parametrize("text", ["x\n::error::y", "x\r\n::set-output name=a::b", "%0A::warning::z", "100%,:::"])
def test_what_a_target_says_makes_no_command(text: str) -> None:
    lines = commands(_hostile(text)).split("\n")
    assert [line[:8] for line in lines] == ["::error ", ""]
    shown = lines[0].replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")
    assert text.replace("\r", "\\r") in shown


def test_hostile_summary_makes_no_command() -> None:
    assert all(line.startswith("::error title=") for line in commands(hostile_summary()).splitlines())


def test_outputs_are_verdict_counts_and_report() -> None:
    found = _read(outputs(with_verdicts("pass", "fail"), Path("a folder"), "END"))
    assert found["verdict"] == "does not conform"
    assert found["exit-code"] == "1"
    assert found["headline"] == "sample does not conform: 1 of 2 MUSTs fails (2 of 2 measured)"
    assert json.loads(found["counts"])["fail"] == 1
    assert found["report"] == "a folder/report.html"


def test_folder_with_line_ends_makes_no_output_of_its_own() -> None:
    found = _read(outputs(with_verdicts("pass"), Path("x\nverdict=conforms\nverdict<<Y\nZ\nY"), "END"))
    assert set(found) == {"verdict", "exit-code", "headline", "counts", "report"}


def test_summary_and_outputs_are_appended_to_the_files_of_the_step(tmp_path: Path) -> None:
    names = ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")
    environment = {name: str(tmp_path / name) for name in names}
    for name in names:
        (tmp_path / name).write_text("a=b\n")
    tell(with_verdicts("pass"), tmp_path, environment)
    summary, told = ((tmp_path / name).read_text() for name in names)
    assert summary.startswith("a=b\n# sample conforms")
    assert _read(told.removeprefix("a=b\n"))["verdict"] == "conforms"


def test_summary_is_no_larger_than_github_shows(tmp_path: Path) -> None:
    checks = [result(f"c{n}", (f"AE-A-{n}",), "fail", finding(n, came="é" * 500)) for n in range(1, 400)]
    summary = summarise(results(checks, exchanges=[exchange(n, chunks=[b"x" * 3000]) for n in range(1, 400)]))
    environment = {"GITHUB_STEP_SUMMARY": str(tmp_path / "s"), "GITHUB_OUTPUT": str(tmp_path / "o")}
    tell(summary, tmp_path, environment)
    assert 100_000 < (tmp_path / "s").stat().st_size < SUMMARY_BYTES


@pytest.mark.parametrize("missing", ["GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT"])
def test_step_that_names_no_file_is_told(tmp_path: Path, missing: str) -> None:
    environment = {name: str(tmp_path / name) for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT") if name != missing}
    with pytest.raises(UsageError, match=f"{missing} is not set"):
        tell(with_verdicts("pass"), tmp_path, environment)


def test_file_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    environment = {"GITHUB_STEP_SUMMARY": str(tmp_path / "no/file"), "GITHUB_OUTPUT": str(tmp_path / "o")}
    with pytest.raises(UsageError, match="cannot be written"):
        tell(with_verdicts("pass"), tmp_path, environment)
