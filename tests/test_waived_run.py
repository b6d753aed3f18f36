"""Runs whose target has known failures: from the draft to the waiver, and to its end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from harness.cli import main
from tests import running

# The canned endpoint sends no WWW-Authenticate with its 401, which AE-AUTH-3, a SHOULD, asks for.
CHECK = "agent_endpoint/test_auth_order.py::test_a_401_says_which_scheme_it_wants"
LACKING = 'owner = ""\nreason = ""\nlink = ""\n'
COMPLETE = 'owner = "Jo"\nreason = "known"\nlink = "https://example.org/1"\n'


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return Path(running.canned(tmp_path)).relative_to(tmp_path)


def judge(path: Path, *arguments: str, only: str = "AUTH-3 or (good_key and header-models)") -> Result:
    return CliRunner().invoke(main, ["run", "--target", str(path), "--strict", "-k", only, *arguments])


def told(result: Result) -> dict[str, Any]:
    summary: dict[str, Any] = json.loads(result.stdout)
    return summary


@pytest.fixture(scope="module")
def draft(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What is drafted at the end of the file: the same whenever the endpoint fails so."""
    path = Path(running.canned(tmp_path_factory.mktemp("draft")))
    before = path.read_text(encoding="utf-8")
    result = judge(path, "--write-waivers", "--out", str(path.parent / "out"))
    assert result.exit_code == 1
    assert f"1 waiver was drafted at the end of {path}: write owner, reason and link of each" in result.stderr
    return path.read_text(encoding="utf-8").removeprefix(before)


@pytest.fixture
def completed(path: Path, draft: str) -> str:
    """The text of the file, with the completed draft in it."""
    text = path.read_text(encoding="utf-8") + draft.replace(LACKING, COMPLETE)
    path.write_text(text, encoding="utf-8")
    return text


def test_draft_lacks_what_a_person_has_to_say_and_is_refused_in_one_line(path: Path, draft: str) -> None:
    path.write_text(path.read_text(encoding="utf-8") + draft, encoding="utf-8")
    line = path.read_text(encoding="utf-8").split("\n").index("[[waivers]]") + 1
    refused = judge(path)
    assert refused.exit_code == 2
    problems = [told for told in refused.stderr.splitlines() if "canned.toml" in told]
    link = 'link: "" is not a link to where it is tracked: begin it with https:// or http://'
    assert problems == [f"usage: canned.toml:{line}: waivers[0]: {link}; owner, reason: must not be empty"]


def test_completed_draft_waives_the_failure_in_every_worker(path: Path, completed: str) -> None:
    assert f'check = "{CHECK}"\n' in completed
    result = judge(path, "--json", "-n", "2")
    summary = told(result)
    assert (result.exit_code, summary["exit_code"]) == (0, 0)
    assert {check["verdict"] for check in summary["checks"] if CHECK in check["check"]} == {"waived"}
    assert summary["waivers"][0]["standing"] == "in-force"
    assert len(summary["waivers"][0]["covers"]) == 4
    assert "waived until" in Path("turnproof-report/junit.xml").read_text(encoding="utf-8")


def test_waived_failure_is_not_drafted_again(path: Path, completed: str) -> None:
    assert "no waivers were drafted" in judge(path, "--write-waivers").stderr
    assert path.read_text(encoding="utf-8") == completed


def test_waiver_that_ran_out_decides_and_is_not_drafted_again(path: Path, completed: str) -> None:
    kept = [line if not line.startswith("until") else 'until = "2026-01-31"' for line in completed.split("\n")]
    path.write_text("\n".join(kept), encoding="utf-8")
    result = judge(path, "--write-waivers")
    assert result.exit_code == 1
    assert "ran out on 2026-01-31" in result.stdout
    assert path.read_text(encoding="utf-8") == "\n".join(kept)


def test_replay_confirms_the_verdicts_of_a_run_with_waivers(path: Path, completed: str) -> None:
    assert "[[waivers]]" in completed
    judge(path)
    again = CliRunner().invoke(main, ["verify", "turnproof-report/results.jsonl"])
    assert (again.exit_code, again.stdout.splitlines()[-1]) == (0, "verdicts   5 of 5 were confirmed by replay")


def test_waiver_is_judged_by_what_all_shards_made(path: Path, completed: str) -> None:
    assert "[[waivers]]" in completed
    shards = [judge(path, "--json", "--shard", f"{number}/2", "--out", f"shards/{number}") for number in (1, 2)]
    assert sorted(told(shard)["waivers"][0]["standing"] for shard in shards) == ["in-force", "unjudged"]
    merged = CliRunner().invoke(main, ["merge", "shards", "--json"])
    assert (merged.exit_code, told(merged)["waivers"][0]["standing"]) == (0, "in-force")


def test_stale_waivers_have_an_exit_code_of_their_own(path: Path) -> None:
    table = f'[[waivers]]\n{COMPLETE}until = 2999-12-31\nsignature = "{"0" * 16}"\n'
    text = path.read_text(encoding="utf-8")
    named = 'requirement = "AE-SCOPE-3"\ncheck = "agent_endpoint/test_scope_ids.py::'
    gone = f'{table}{named}test_a_name_that_is_only_like_an_agents_is_not_found[tail]"\n'
    path.write_text(f'{text}{gone}{table}requirement = "AE-NONE-1"\n', encoding="utf-8")
    result = judge(path, "--json", only="SCOPE-3 and tail")
    assert [waiver["standing"] for waiver in told(result)["waivers"]] == ["not-failing", "unknown"]
    assert (result.exit_code, told(result)["exit_code"]) == (5, 5)


@pytest.mark.parametrize("target", [[], ["--target", "http://127.0.0.1:1"], ["--target", "reference"]], ids=str)
def test_waivers_are_drafted_into_a_file_of_the_users_own_only(target: list[str]) -> None:
    result = CliRunner().invoke(main, ["run", *target, "--write-waivers"])
    assert result.exit_code == 2
    assert "--write-waivers needs a target that is named by its file" in result.stderr
