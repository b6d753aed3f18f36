from __future__ import annotations

import contextlib
import io
import re

import pytest
from rich.console import Console

from harness.progress import Progress
from harness.results import CheckResult, Verdict
from tests.sample_results import finding, results, waiver
from tests.sample_results import result as failed

SHOWN, HIDDEN = "\x1b[?25h", "\x1b[?25l"


def result(verdict: Verdict = "pass", check: str = "suite/test_a.py::test_x[[red]]") -> CheckResult:
    return CheckResult(check, ("AE-AUTH-1",), verdict, 0.1)


def shown(terminal: bool, *results: CheckResult) -> str:
    stream = io.StringIO()
    with Progress(Console(file=stream, force_terminal=terminal, width=100, highlight=False)) as progress:
        progress.observer.planned(len(results))
        progress.observer.step("it [starts]", "process 7")
        for one in results:
            progress.observer.done(one)
    return stream.getvalue()


def test_each_result_is_a_line_where_there_is_no_terminal() -> None:
    lines = shown(False, result(), result("fail", "a::b")).splitlines()
    assert lines == ["it [starts]: process 7", "1/2 pass test_x[[red]]", "2/2 fail b"]


def test_only_what_did_not_pass_stays_on_a_terminal() -> None:
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown(True, result("pass"), result("fail", "a::b")))
    lines = re.split("[\r\n]", plain)
    assert "2/2 fail b" in lines
    assert not any(line.startswith("1/2 pass") for line in lines)


def test_waived_failure_is_told_as_waived() -> None:
    stream = io.StringIO()
    with Progress(Console(file=stream, width=100, highlight=False)) as progress:
        progress.observer.begun(results(waivers=(waiver("AE-AUTH-1"),)).header)
        progress.observer.done(failed("a::b", ("AE-AUTH-1",), "fail", finding()))
        progress.observer.done(failed("a::c", ("AE-AUTH-2",), "fail", finding()))
    assert stream.getvalue().splitlines() == ["1/0 waived b", "2/0 fail c"]


@pytest.mark.parametrize("error", [None, KeyboardInterrupt(), ValueError()])
def test_cursor_is_shown_again_at_the_end(error: BaseException | None) -> None:
    stream = io.StringIO()
    with contextlib.suppress(KeyboardInterrupt, ValueError), Progress(Console(file=stream, force_terminal=True)):
        if error is not None:
            raise error
    assert HIDDEN in stream.getvalue()
    assert stream.getvalue().rindex(SHOWN) > stream.getvalue().rindex(HIDDEN)


def test_no_control_character_is_written_where_there_is_no_terminal() -> None:
    assert "\x1b" not in shown(False, result(), result("error"))
