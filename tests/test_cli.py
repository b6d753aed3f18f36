from __future__ import annotations

import json
import os
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness.cli import main
from harness.listener import free_port
from harness.reporting.names import NAMES
from tests import running
from tests.sample_results import finding, result, results, write

Invoke = Callable[..., Result]


@pytest.fixture
def invoke(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Invoke:
    """Call the command line in a folder of its own, in which some bad files are; `CLOSED` is a closed port."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TURNPROOF_API_KEY", raising=False)
    monkeypatch.setenv("COLUMNS", "200")
    Path("folder").mkdir()
    Path("empty.toml").touch()
    Path("broken.toml").write_text("kind = ")
    Path("binary.toml").write_bytes(b"\xff\xfe")
    Path("wrong.toml").write_text('kind = "agent-endpoint"\nname = "x"\nurl = "http://h"\ntypo = 1\n')
    Path("deaf.toml").write_text(DEAF)
    Path("matrix.toml").write_text(MATRIX)
    Path("dying.toml").write_text(DYING)
    Path("file").touch()
    Path("noise.jsonl").write_text("not json\n")
    write(results([result("c", ("AE-AUTH-1",), "pass")], outcome=None), Path("torn.jsonl"))
    write(results([result("c", ("AE-AUTH-1",), "pass")], outcome="interrupted"), Path("interrupted.jsonl"))
    closed = f"http://127.0.0.1:{free_port()}"

    def invoke(*arguments: str) -> Result:
        return CliRunner().invoke(main, [argument.replace("CLOSED", closed) for argument in arguments])

    return invoke


DEAF = """
kind = "agent-endpoint"
name = "deaf"
url = "http://127.0.0.1:1"
ready = { within = 0.1 }
agents = [{ id = "a" }]
[[keys]]
name = "main"
state = "valid"
agents = ["a"]
command = ["echo", "key"]
"""
MATRIX = 'name = "m"\n[[compare]]\nbinary = "kilo"\nsuite = "kilo_cli"\nversions = ["0.0.1"]\n'
DYING = DEAF.replace('url = "http://127.0.0.1:1"', 'start = { command = ["sh", "-c", "echo no database; exit 3"] }')


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ([], 2, "Usage:"),
        (["nonsense"], 2, "No such command 'nonsense'"),
        (["run", "surplus"], 2, "run takes no argument"),
        (["run", "--nonsense"], 2, "No such option"),
        (["run", "-k"], 2, "requires an argument"),
        (["run", "-n", "x"], 2, "not a valid integer"),
        (["run", "-n", "-1"], 2, "not in the range"),
        (["run", "-n", "65"], 2, "not in the range"),
        (["run", "--suite", "nothing"], 2, "no suite is called 'nothing'"),
        (["run", "--suite", "../suites"], 2, "no suite is called '../suites'"),
        (["run", "--list", "--suite", "nothing"], 2, "no suite is called 'nothing'"),
        (["run", "--list", "-k", "zebra"], 2, "no check of agent_endpoint matches -k 'zebra'"),
        (["run", "-k", "("], 2, "-k '(' is not an expression"),
        (["run", "-k", "zebra"], 2, "no check of agent_endpoint matches -k 'zebra'"),
        (["run", "--shard", "6/5"], 2, "'6/5' is no shard"),
        (["run", "--shard", "1/9", "-k", "header"], 2, "cannot be split into 9 shards"),
        (["run", "--target", ""], 2, "is a folder"),
        (["run", "--target", "nothing.toml"], 2, "nothing.toml: no such file"),
        (["run", "--target", "folder"], 2, "folder: is a folder"),
        (["run", "--target", "empty.toml"], 2, "empty.toml:1:"),
        (["run", "--target", "broken.toml"], 2, "broken.toml:1: not TOML"),
        (["run", "--target", "binary.toml"], 2, "binary.toml:1: is not UTF-8"),
        (["run", "--target", "wrong.toml"], 2, "wrong.toml:4: typo:"),
        (["run", "--target", "mutant:nothing"], 2, "no mutant is called 'nothing'"),
        (["run", "--target", "localhost:9000"], 2, "For a URL, write its scheme: http://localhost:9000"),
        (["run", "--target", "http://"], 2, "no usable host"),
        (["run", "--target", "ftp://host"], 2, "does not begin with http:// or https://"),
        (["run", "--target", "http://user:word@host"], 2, "holds a user or password"),
        (["run", "--target", "http://host:99999"], 2, "malformed"),
        (["run", "--target", "CLOSED"], 2, "TURNPROOF_API_KEY"),
        (["run", "--attach", "CLOSED/word"], 2, "--attach is for a target given by URL"),
        (["run", "--attach", "CLOSED/word", "-n", "2"], 2, "--attach is for a target given by URL"),
        (["run", "--target", "deaf.toml", "--attach", "CLOSED/word", "-n", "2"], 2, "leave -n out"),
        (["run", "--target", "deaf.toml", "--attach", "CLOSED/word"], 2, "no control answers at http://127.0.0.1:"),
        (["run", "--target", "deaf.toml", "--attach", "CLOSED"], 2, "is not a control address"),
        (["run", "--target", "deaf.toml", "--attach", "x", "--opencode", "real"], 2, "Give --opencode to turnproof up"),
        (["run", "--target", "deaf.toml", "--opencode", "real"], 2, "--opencode real would change nothing"),
        (["run", "--suite", "opencode_server", "--opencode", "1.18.33"], 2, "behind opencode stand-in, so --opencode"),
        (["run", "--target", "reference-kilo", "--opencode", "x"], 2, "no opencode is put behind"),
        (["doctor", "model-stand-in", "--opencode", "real"], 2, "--opencode real would change nothing"),
        (["up", "kilo-stand-in", "--opencode", "real"], 2, "--opencode real would change nothing"),
        (["run", "--target", "deaf.toml", "--out", "file"], 2, "file: cannot be written"),
        (["run", "--target", "deaf.toml", "--out", "file/below"], 2, "file/below: cannot be written"),
        (["run", "--target", "deaf.toml"], 3, "target not ready (it is ready)"),
        (["run", "--target", "dying.toml"], 3, "| no database"),
        (["run", "--target", "dying.toml", "-n", "2"], 3, "it ended with status 3 before it was ready"),
        (["doctor", "nothing.toml"], 2, "nothing.toml: no such file"),
        (["doctor", "a", "b"], 2, "unexpected extra argument"),
        (["doctor", "CLOSED"], 2, "TURNPROOF_API_KEY"),
        (["doctor", "deaf.toml"], 3, "target not ready (it is ready)"),
        (["doctor", "dying.toml"], 3, "| no database"),
        (["doctor", "--attach", "CLOSED/word"], 2, "--attach is for a target given by URL"),
        (["doctor", "deaf.toml", "--attach", "CLOSED/word"], 2, "no control answers at http://127.0.0.1:"),
        (["up", "nothing.toml"], 2, "nothing.toml: no such file"),
        (["up", "deaf.toml"], 2, "deaf.toml does not tell which models are to be served"),
        (["up", "--stack", "stand-in"], 2, "Name an opencode with --opencode"),
        (["init"], 2, "Missing argument"),
        (["init", "nothing"], 2, "'nothing' is not one of"),
        (["init", "kilo-cli", "empty.toml"], 2, "empty.toml: there is a file already"),
        (["init", "kilo-cli", "file/below"], 2, "file/below: cannot be written"),
        (["schema", "surplus"], 2, "unexpected extra argument"),
        (["run", "--target", "deaf.toml", "--suite", "kilo_cli"], 2, "is not for a target of kind agent-endpoint"),
        (["fetch"], 2, "Missing argument"),
        (["fetch", "opencode"], 2, "opencode"),
        (["fetch", "opencode@"], 2, "opencode"),
        (["fetch", "nothing@1.0.0"], 2, "nothing"),
        (["fetch", "opencode@../../x"], 2, "opencode"),
        (["report"], 2, "Missing argument"),
        (["report", "noise.jsonl"], 2, "noise.jsonl: not a results file"),
        (["report", "torn.jsonl", "--out", "file"], 2, "file: cannot be written"),
        (["merge"], 2, "Missing argument"),
        (["merge", "nothing"], 2, "nothing: cannot be read"),
        (["merge", "folder"], 2, "folder: no results.jsonl is in this folder"),
        (["merge", "noise.jsonl"], 2, "noise.jsonl: not a results file"),
        (["merge", "torn.jsonl"], 2, "the run of agent_endpoint of sample did not finish: torn.jsonl has no footer"),
        (["merge", "interrupted.jsonl"], 2, "interrupted.jsonl ends with interrupted"),
        (["verify"], 10, "there is no evidence of turnproof in the text"),
        (["verify", "interrupted.jsonl", "--commit", "abcdef1"], 2, "a results file has no seal"),
        (["verify", "file", "--commit", "abc"], 2, "too short for a commit"),
        (["verify", "file", "--max-age", "week"], 2, "'week' is no age"),
        (["verify", "file", "--key", "file"], 2, "file: no public key in PEM"),
        (["verify", "file", "--bundle", "nothing"], 2, "nothing: cannot be read"),
        (["live", "nothing.toml"], 2, "nothing.toml: no such file"),
        (["live", "stand-in"], 2, "there is no round trip through a target of kind opencode-server"),
        (["live", "deaf.toml", "--direct"], 2, "nothing of turnproof's is behind a target given by URL"),
        (["live", "--model", "x"], 2, "say more about --model-url"),
        (["live", "--direct", "--model-url", "http://a/v1", "--model", "x"], 2, "with --direct there is none"),
        (["live", "--direct", "--model-url", "http://a/v1"], 2, "--model-url needs --model-key-env"),
        (["live", "--direct", "--model-url", "a/v1", "--model-key-env", "X"], 2, "a/v1 is no base URL of a provider"),
        (["live", "--model-url", "http://a/v1", "--model-key-env", "NO_SUCH"], 2, "NO_SUCH is not set"),
        (["live", "--sign", "file"], 2, "file: no private key in PEM"),
        (["live", "reference-kilo", "--attach", "x"], 2, "--attach is not for agents that wrap the Kilo CLI"),
        (["live", "reference-kilo", "--opencode", "real"], 2, "--opencode is not for agents that wrap the Kilo CLI"),
        (["live", "--direct", "--kilo", "7.7.9"], 2, "--kilo is for agents that wrap the Kilo CLI"),
        (["live", "deaf.toml", "--attach", "x", "--opencode", "real"], 2, "Give --opencode to turnproof up"),
        (["verify", "nothing.jsonl"], 2, "nothing.jsonl: cannot be read"),
        (["verify", "folder"], 2, "folder/results.jsonl: cannot be read"),
        (["verify", "file"], 10, "there is no evidence of turnproof in the text"),
        (["verify", "noise.jsonl"], 2, "noise.jsonl: not a results file"),
        (["verify", "torn.jsonl"], 2, "the run did not finish"),
        (["verify", "interrupted.jsonl"], 2, "the run did not finish"),
        (["diff"], 2, "Missing argument"),
        (["diff", "torn.jsonl"], 2, "Missing argument"),
        (["diff", "nothing.jsonl", "noise.jsonl"], 2, "nothing.jsonl: cannot be read"),
        (["diff", "folder", "folder"], 2, "folder/results.jsonl: cannot be read"),
        (["diff", "noise.jsonl", "noise.jsonl"], 2, "noise.jsonl: not a results file"),
        (["diff", "torn.jsonl", "torn.jsonl"], 2, "the older run did not finish"),
        (["diff", "interrupted.jsonl", "torn.jsonl"], 2, "the older run did not finish"),
        (["matrix"], 2, "Missing argument"),
        (["matrix", "nothing.toml"], 2, "nothing.toml: no such file"),
        (["matrix", "empty.toml"], 2, "empty.toml:1: name is missing"),
        (["matrix", "matrix.toml", "--jobs", "0"], 2, "not in the range"),
        (["matrix", "matrix.toml", "--executor", "slurm"], 2, "'slurm' is not one of 'local', 'ray'"),
        (["matrix", "matrix.toml", "--executor", "ray"], 2, "--executor ray needs --address"),
        (["matrix", "matrix.toml", "--address", "127.0.0.1:1"], 2, "--address is for --executor ray"),
        (["matrix", "matrix.toml", "--out", "file"], 2, "file: cannot be written"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_input_is_told_with_its_exit_code(invoke: Invoke, arguments: list[str], code: int, words: str) -> None:
    told = invoke(*arguments)
    assert words in told.stderr
    assert (told.exit_code, told.stdout) == (code, told.stdout if code == 3 else "")


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "--target", "nothing.toml"],
        ["verify", "torn.jsonl"],
        ["fetch", "x@1"],
        ["diff", "torn.jsonl", "torn.jsonl"],
    ],
)
def test_usage_error_says_what_to_do_next(invoke: Invoke, arguments: list[str]) -> None:
    first, second, *_ = invoke(*arguments).stderr.splitlines()
    assert first.startswith("usage: ")
    assert second.startswith("  ")


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_each_command_has_a_line_in_the_help(invoke: Invoke, option: str) -> None:
    told = invoke(option)
    lines = {line.split()[0]: line for line in told.stdout.splitlines() if line.startswith("  ") and line.strip()}
    assert (told.exit_code, told.stderr) == (0, "")
    assert [name for name, one in main.commands.items() if not lines[name].endswith(f"  {one.short_help}")] == []


@pytest.mark.parametrize("command", sorted(main.commands))
def test_help_of_a_command_has_an_example(invoke: Invoke, command: str) -> None:
    told = invoke(command, "-h")
    assert (told.exit_code, told.stderr) == (0, "")
    assert told.stdout.startswith(f"Usage: main {command} ")
    assert f"\n    turnproof {command}" in told.stdout.partition("Example")[2]


def test_version_is_told(invoke: Invoke) -> None:
    assert invoke("--version").stdout == f"turnproof, version {version('turnproof')}\n"


def test_checks_are_listed_with_their_requirements(invoke: Invoke) -> None:
    told = invoke("run", "--list", "-k", "done_is_the_last")
    assert (told.exit_code, told.stdout) == (0, "AE-STREAM-3    done is the last thing said\n")


def test_checks_of_a_shard_are_listed(invoke: Invoke) -> None:
    lists = [invoke("run", "--list", "-k", "STREAM or REQ", "--shard", f"{number}/2").stdout for number in (1, 2)]
    whole = invoke("run", "--list", "-k", "STREAM or REQ").stdout
    assert sorted("".join(lists).splitlines()) == sorted(whole.splitlines())


def test_merged_shards_have_reports_and_the_exit_code_of_the_run(invoke: Invoke, tmp_path: Path) -> None:
    target = running.canned(tmp_path)
    for number in (1, 2):
        invoke(
            "run", "--target", target, "-k", "header or REQ-1", "--shard", f"{number}/2", "--out", f"shards/{number}"
        )
    told = invoke("merge", "shards", "--out", "here", "--json")
    found = json.loads(told.stdout)
    assert found["exit_code"] == told.exit_code
    assert (
        found["planned"] == found["made"] == len(invoke("run", "--list", "-k", "header or REQ-1").stdout.splitlines())
    )
    assert {path.name for path in Path("here").iterdir()} == {"results.jsonl", *NAMES}


def test_usage_error_leaves_no_folder_behind(invoke: Invoke) -> None:
    invoke("run", "-k", "zebra")
    assert not Path("turnproof-report").exists()


@pytest.mark.parametrize("command", [["run", "--target"], ["doctor"], ["up"]], ids=["run", "doctor", "up"])
def test_variable_that_is_missing_is_told_with_its_line_before_anything_is_started(
    invoke: Invoke, tmp_path: Path, command: list[str]
) -> None:
    path = Path(running.canned(tmp_path))
    path.write_text(path.read_text(encoding="utf-8").replace('DELAY = "0.0"', 'DELAY = "{env:NO_SUCH}"'))
    told = invoke(*command, str(path))
    line = path.read_text(encoding="utf-8").partition("NO_SUCH")[0].count("\n") + 1
    assert told.exit_code == 2
    assert f"canned.toml:{line}: start.env.DELAY: the environment variable NO_SUCH is not set" in told.stderr
    assert not Path("turnproof-report").exists()
    assert "it starts" not in told.stdout + told.stderr


def test_target_that_is_not_ready_leaves_reports_that_say_so(invoke: Invoke) -> None:
    told = invoke("run", "--target", "deaf.toml", "--json")
    assert json.loads(told.stdout)["exit_code"] == 3
    assert {path.name for path in Path("turnproof-report").iterdir()} == {"results.jsonl", *NAMES}


def test_run_ends_with_the_verdict_and_says_where_it_is_written(invoke: Invoke, tmp_path: Path) -> None:
    told = invoke("run", "--target", running.canned(tmp_path), "-k", "good_key and header", "--out", "here")
    assert told.exit_code == 0
    assert "canned conforms: the only MUST passes" in told.stdout
    assert f"written to here: results.jsonl, {', '.join(NAMES)}" in told.stderr
    assert "2/2 pass" in told.stderr


def test_run_says_first_what_it_judges(invoke: Invoke, tmp_path: Path) -> None:
    told = invoke("run", "--target", running.canned(tmp_path), "-k", "good_key and header")
    assert told.stderr.splitlines()[0] == "judging: canned"


def test_run_by_a_suite_that_is_not_the_one_of_the_kind_says_so(invoke: Invoke, tmp_path: Path) -> None:
    told = invoke("run", "--target", running.canned(tmp_path), "--suite", "live_endpoint", "-k", "REFUSAL")
    assert told.stderr.splitlines()[0] == "judging: canned, by the suite live_endpoint"


def test_target_that_is_named_without_its_option_is_told_how_to_name_it(invoke: Invoke) -> None:
    told = invoke("run", "my endpoint.toml")
    assert told.exit_code == 2
    assert "name the target by its option: turnproof run --target 'my endpoint.toml'" in told.stderr


def test_json_is_all_that_is_printed(invoke: Invoke, tmp_path: Path) -> None:
    told = invoke("run", "--target", running.canned(tmp_path), "-k", "good_key and header", "--json")
    assert json.loads(told.stdout)["exit_code"] == told.exit_code == 0


def test_reports_of_a_recorded_run_are_written_anew(invoke: Invoke) -> None:
    told = invoke("report", "torn.jsonl", "--out", "here")
    assert (told.exit_code, told.stdout) == (0, "")
    assert {path.name for path in Path("here").iterdir()} == set(NAMES)


def test_step_of_github_actions_is_told(invoke: Invoke, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GITHUB_OUTPUT", str(tmp_path / "outputs"))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "step.md"))
    told = invoke("report", "torn.jsonl", "--github")
    assert told.stdout.startswith("::error title=turnproof%3A the run can be judged::sample: unfinished")
    assert "unfinished" in (tmp_path / "outputs").read_text()
    assert (tmp_path / "step.md").read_text().startswith("# sample: unfinished")


def test_finished_run_is_verified(invoke: Invoke, tmp_path: Path) -> None:
    invoke("run", "--target", running.canned(tmp_path), "-k", "good_key and header")
    told = invoke("verify", "turnproof-report/results.jsonl")
    says, verdicts = told.stdout.splitlines()
    assert says.startswith("it says    canned conforms: the only MUST passes")
    assert (told.exit_code, verdicts) == (0, "verdicts   2 of 2 were confirmed by replay")


def test_finished_run_that_does_not_conform_is_verified_and_exits_with_1(invoke: Invoke, tmp_path: Path) -> None:
    invoke("run", "--target", running.canned(tmp_path), "-k", "(good_key and header) or ENV-2")
    told = invoke("verify", "turnproof-report")
    assert "it says    canned does not conform" in told.stdout
    assert (told.exit_code, "were confirmed by replay" in told.stdout) == (1, True)


def test_forged_verdict_is_found(invoke: Invoke, tmp_path: Path) -> None:
    invoke("run", "--target", running.canned(tmp_path), "-k", "good_key and header and models")
    path = Path("turnproof-report/results.jsonl")
    path.write_text(path.read_text().replace('"verdict":"pass"', '"verdict":"inconclusive"'))
    told = invoke("verify", str(path))
    assert told.exit_code == 17
    assert "recorded inconclusive, replayed pass" in told.stdout
    assert "0 of 1 were confirmed by replay" in told.stdout


def test_what_a_replay_came_to_is_told_as_json(invoke: Invoke, tmp_path: Path) -> None:
    invoke("run", "--target", running.canned(tmp_path), "-k", "good_key and header")
    told = invoke("verify", "--json", "turnproof-report/results.jsonl")
    found = json.loads(told.stdout)
    assert found.pop("headline").startswith("canned conforms: ")
    assert found == {"exit_code": 0, "checks": 2, "confirmed": 2, "differing": []}


@pytest.fixture
def two_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that conforms, and one in whose place its MUST fails."""
    monkeypatch.chdir(tmp_path)
    write(results([result("c", ("AE-AUTH-1",), "pass")]), Path("good.jsonl"))
    Path("later").mkdir()
    write(results([result("c", ("AE-AUTH-1",), "fail", finding())]), Path("later", "results.jsonl"))


@pytest.mark.usefixtures("two_runs")
def test_regression_between_two_runs_is_exit_code_1(invoke: Invoke) -> None:
    told = invoke("diff", "good.jsonl", "later")
    assert (told.exit_code, told.stderr) == (1, "")
    assert told.stdout.endswith("\nregressed: 1 that decides (1 regressed)\n")


@pytest.mark.usefixtures("two_runs")
def test_mending_between_two_runs_is_exit_code_0(invoke: Invoke) -> None:
    assert invoke("diff", "later", "good.jsonl").exit_code == 0


@pytest.mark.usefixtures("two_runs")
def test_diff_is_had_as_json_and_as_markdown(invoke: Invoke) -> None:
    told = invoke("diff", "good.jsonl", "later", "--json")
    assert (json.loads(told.stdout)["exit_code"], told.exit_code) == (1, 1)
    told = invoke("diff", "good.jsonl", "later", "--markdown")
    assert told.stdout.startswith("# regressed: 1 that decides (1 regressed)\n")


def test_doctor_tells_each_step(invoke: Invoke, tmp_path: Path) -> None:
    told = invoke("doctor", running.canned(tmp_path))
    steps = [line.partition(":")[0] for line in told.stdout.splitlines()]
    wanted = ["it starts", "it is ready", "its keys are had", "its keys work", "a turn is answered", "it stops"]
    assert (told.exit_code, steps) == (0, [f"ok  {step}" for step in wanted])


def test_folder_for_results_that_may_not_be_written_is_told(invoke: Invoke) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    Path("folder").chmod(0o500)
    assert invoke("run", "--target", "deaf.toml", "--out", "folder/x").exit_code == 2
