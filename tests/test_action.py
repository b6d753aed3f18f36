from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.reporting.names import NAMES
from harness.requirements import suites
from harness.results import read
from tests import running
from tests.action_runner import ACTION, ROOT, STEPS, Annotation, run_action

ATTACK = "-$(touch mark)`touch mark`\"; touch mark; '; touch mark; \\\ntouch mark\n::error::x\n#"
FOLDER = "-$(touch mark) '\"; touch mark #"


def test_no_input_is_part_of_a_script() -> None:
    assert [step["name"] for step in STEPS if "${{" in step["run"]] == []
    assert [step["name"] for step in STEPS if step["shell"] != "bash"] == []


def test_every_input_reaches_a_step_by_its_environment() -> None:
    reached = {value for step in STEPS for value in step["env"].values()}
    assert {f"${{{{ inputs.{name} }}}}" for name in ACTION["inputs"]} <= reached


def test_every_suite_is_named_by_the_action() -> None:
    assert all(suite in ACTION["inputs"]["suite"]["description"] for suite in suites())


def test_target_that_conforms_is_green_whatever_the_folder_is_called(tmp_path: Path) -> None:
    target = running.canned(tmp_path)
    ended = run_action(tmp_path, {"target": target, "select": "good_key and header", "strict": "true", "out": FOLDER})
    assert (ended.code, ended.outputs["verdict"], ended.outputs["exit-code"]) == (0, "conforms", "0")
    assert json.loads(ended.outputs["counts"])["pass"] == 1
    assert ended.annotations == (Annotation("notice", "turnproof", ended.outputs["headline"]),)
    assert ended.summary.startswith("# canned conforms: the only MUST passes")
    assert ended.outputs["report"] == f"{FOLDER}/report.html"
    assert list(ended.written) == [FOLDER]
    assert {path.name for path in ended.written[FOLDER].iterdir()} == {"results.jsonl", *NAMES}
    assert read(ended.written[FOLDER] / "results.jsonl").header.strict


def test_target_that_does_not_conform_is_red_with_its_failures(tmp_path: Path) -> None:
    select = "good_key and header or no_json_object and empty"
    ended = run_action(tmp_path, {"target": running.canned(tmp_path), "select": select})
    assert (ended.code, ended.outputs["verdict"]) == (1, "does not conform")
    assert {annotation.level for annotation in ended.annotations} == {"error"}
    assert ended.annotations[0].title.startswith("AE-REQ-1: ")
    assert "expected: " in ended.annotations[0].message
    assert "## Failures" in ended.summary


def test_what_a_target_says_as_it_dies_is_no_command_to_the_runner(tmp_path: Path) -> None:
    target = Path(running.canned(tmp_path))
    shout = "print('::error::forged', '  ::set-env name=PATH::x', sep=chr(10), flush=True); raise SystemExit(3)"
    target.write_text(target.read_text().replace('"{python}", "', f'"{{python}}", "-c", "{shout}", "', 1))
    ended = run_action(tmp_path, {"target": str(target)})
    assert (ended.code, ended.outputs["verdict"]) == (3, "target not ready")
    assert "::error::forged" in ended.log
    assert [command.split("::")[1].split()[0] for command in ended.commands] == ["stop-commands", "error"]
    assert [annotation.title for annotation in ended.annotations] == ["turnproof: the run can be judged"]


@pytest.mark.parametrize("names", [("target", "suite", "select", "shard", "opencode"), ("strict",), ("require-all",)])
def test_hostile_inputs_are_text_and_nothing_else(tmp_path: Path, names: tuple[str, ...]) -> None:
    ended = run_action(tmp_path, dict.fromkeys(names, ATTACK))
    assert (ended.code, ended.outputs["verdict"], ended.outputs["exit-code"]) == (2, "not judged", "2")
    assert ended.written == {}
    assert [annotation.level for annotation in ended.annotations] == ["error"]


@pytest.mark.parametrize("version", [ATTACK, "1 --index-url=http://127.0.0.1:1", "-r/etc/passwd", "1.0 @ file:///x"])
def test_version_that_is_none_is_refused_before_anything_is_installed(tmp_path: Path, version: str) -> None:
    ended = run_action(tmp_path, {"version": version})
    assert (ended.code, ended.pip, ended.written) == (2, (), {})
    assert ended.annotations == (Annotation("error", "turnproof", "The input version is no version, such as 0.1.0"),)


@pytest.mark.parametrize(("version", "wanted"), [("", str(ROOT)), ("1.2.3rc1", "turnproof==1.2.3rc1")])
def test_wanted_version_is_installed(tmp_path: Path, version: str, wanted: str) -> None:
    ended = run_action(tmp_path, {"version": version, "strict": "perhaps"})
    assert ended.pip[:3] == ("-m", "pip", "install")
    assert ended.pip[-1] == wanted


def test_results_of_an_earlier_run_are_not_taken_for_those_of_this(tmp_path: Path) -> None:
    folder = tmp_path / "workspace" / "turnproof-report"
    folder.mkdir(parents=True)
    for name in ("results.jsonl", *NAMES):
        (folder / name).write_text("old")
    ended = run_action(tmp_path, {"target": "nothing.toml"})
    assert (ended.code, ended.outputs["verdict"], ended.outputs["report"]) == (2, "not judged", "")
    assert list(folder.iterdir()) == []
