from __future__ import annotations

import datetime
import tomllib
from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.results import CheckResult
from harness.verdict import Summary, summarise
from harness.waiver_draft import as_toml, draft_into, drafts
from tests.sample_results import HOSTILE, SIGNATURE, finding, requirement, result, results, waiver, with_verdicts

DAY = datetime.date(2026, 11, 29)


def failing(*checks: str, signatures: dict[str, str] | None = None) -> Summary:
    made = [result(check, ("AE-A-1",), "fail", finding()) for check in checks]
    signed = [CheckResult(**{**vars(one), "signature": (signatures or {}).get(one.check, SIGNATURE)}) for one in made]
    return summarise(results(signed))


def test_failure_that_decides_is_drafted() -> None:
    (draft,) = drafts(with_verdicts("pass", "fail", "inconclusive", "not-measured", "waived"))
    assert (draft.requirement, draft.check, draft.signature) == ("AE-GROUP-2", "check AE-GROUP-2", SIGNATURE)


def test_failure_that_does_not_decide_is_not_drafted() -> None:
    rows = [requirement("AE-A-1", "MAY")]
    assert drafts(summarise(results([result("c", ("AE-A-1",), "fail", finding())], rows))) == ()


def test_failure_whose_waiver_ran_out_is_not_drafted() -> None:
    assert drafts(with_verdicts("fail", waivers=(waiver("AE-GROUP-1", until="2026-01-01"),))) == ()


def test_failure_of_another_kind_than_its_waivers_is_drafted() -> None:
    assert len(drafts(with_verdicts("fail", waivers=(waiver("AE-GROUP-1", signature="f" * 16),)))) == 1


def test_checks_that_differ_in_parameters_and_fail_alike_have_one_draft() -> None:
    assert [draft.check for draft in drafts(failing("t::a[x]", "t::a[y]"))] == ["t::a"]


def test_checks_that_differ_in_parameters_and_fail_differently_have_a_draft_each() -> None:
    summary = failing("t::a[x]", "t::a[y]", signatures={"t::a[x]": "f" * 16})
    assert [draft.check for draft in drafts(summary)] == ["t::a[x]", "t::a[y]"]


def test_check_that_fails_beside_a_passing_one_of_its_function_has_its_own_draft() -> None:
    checks = [result("t::a[x]", ("AE-A-1",), "fail", finding()), result("t::a[y]", ("AE-A-1",), "pass")]
    assert [draft.check for draft in drafts(summarise(results(checks)))] == ["t::a[x]"]


def test_check_of_two_requirements_has_a_draft_for_each() -> None:
    both = result("c", ("AE-A-1", "AE-A-2"), "fail", finding())
    assert [draft.requirement for draft in drafts(summarise(results([both])))] == ["AE-A-1", "AE-A-2"]


def test_drafts_are_toml_whatever_the_target_said() -> None:
    check = f't::a[{HOSTILE.encode("utf-8", "replace").decode()}\x7f"]'
    hostile = result(check, ("AE-A-1",), "fail", finding(expected=HOSTILE, came=HOSTILE))
    text = as_toml(drafts(summarise(results([hostile]))), DAY)
    (table,) = tomllib.loads(text)["waivers"]
    expected = {"requirement": "AE-A-1", "check": check, "until": datetime.date(2026, 12, 29), "signature": SIGNATURE}
    assert table == {**expected, "owner": "", "reason": "", "link": ""}
    assert "# expected " in text


@pytest.mark.parametrize("before", ["", "a = 1", "a = 1\n", "[[waivers]]\na = 1\n"])
def test_drafts_come_after_what_is_in_the_file(tmp_path: Path, before: str) -> None:
    path = tmp_path / "my.toml"
    path.write_text(before, encoding="utf-8")
    draft_into(path, with_verdicts("fail"))
    text = path.read_text(encoding="utf-8")
    assert text.startswith(before)
    assert tomllib.loads(text)["waivers"][-1]["requirement"] == "AE-GROUP-1"


def test_file_with_waivers_in_one_line_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "my.toml"
    path.write_text("waivers = []\n", encoding="utf-8")
    with pytest.raises(UsageError, match="no waiver can be added at its end"):
        draft_into(path, with_verdicts("fail"))
    assert path.read_text(encoding="utf-8") == "waivers = []\n"


def test_run_that_did_not_finish_drafts_nothing(tmp_path: Path) -> None:
    told = draft_into(tmp_path / "none.toml", with_verdicts("fail", "not-run", outcome="interrupted"))
    assert told == "no waivers were drafted: the run did not finish"


def test_nothing_that_fails_drafts_nothing(tmp_path: Path) -> None:
    assert "nothing that decides fails" in draft_into(tmp_path / "none.toml", with_verdicts("pass"))
