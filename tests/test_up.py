from __future__ import annotations

import contextlib
import itertools
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from harness.builtin import find_target
from harness.doctor import examine
from harness.errors import TargetNotReady, UsageError
from harness.held import held_at
from harness.opencode import STAND_IN
from harness.run import Observer, Order, run
from harness.target import Target
from harness.target_file import from_url, load
from harness.up import holding
from harness.verdict import summarise
from tests import running

RUNNING = """
kind = "agent-endpoint"
name = "running"
url = "http://127.0.0.1:1"
agents = [{ id = "a", model = "house/vendor/x" }, { id = "b", model = "house/tiny" }, { id = "c" }]
keys = [{ name = "main", state = "valid", agents = ["a"], env = "KEY" }]
"""


def quietly(_step: str, _detail: str) -> None:
    pass


@pytest.fixture(scope="module")
def whole() -> Iterator[str]:
    """What is said of the reference with everything behind it."""
    with holding(find_target("reference"), STAND_IN, False, quietly) as text:
        yield text


@pytest.fixture
def url_target(tmp_path: Path) -> Target:
    (tmp_path / "running.toml").write_text(RUNNING, encoding="utf-8")
    return load(tmp_path / "running.toml")


def place(text: str, name: str) -> str:
    found = re.search(rf"^{name} +(\S+)", text, re.M)
    assert found is not None, text
    return found[1]


def asked(text: str) -> httpx.Response:
    """The answer to the curl line."""
    (line,) = (line for line in text.splitlines() if line.startswith("curl "))
    _, _, url, *options = shlex.split(line)
    given = {name: [v for o, v in itertools.pairwise(options) if o == name] for name in ("-H", "-u", "-d")}
    headers = dict(header.split(": ", 1) for header in given["-H"])
    auth = tuple(given["-u"][0].split(":")) if given["-u"] else None
    return httpx.post(url, headers=headers, content=given["-d"][0], auth=auth, trust_env=False)  # type: ignore[arg-type]


def test_curl_line_asks_the_endpoint_with_a_working_key(whole: str) -> None:
    assert place(whole, "key") in whole.split("curl", 1)[1]
    reply = asked(whole)
    assert reply.json()["choices"][0]["message"]["content"] == "ok"


def test_each_part_is_where_it_is_said_to_be(whole: str) -> None:
    assert httpx.get(f"{place(whole, 'endpoint')}/models").status_code == 401
    assert httpx.get(f"{place(whole, 'opencode')}/global/health").status_code == 401
    assert httpx.get(f"{place(whole, 'model server')}/models").json()["object"] == "list"


def test_endpoint_that_is_up_can_be_judged_with_the_line_that_is_printed(
    whole: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, *command = shlex.split(whole.splitlines()[-1])
    monkeypatch.setenv(*key.split("=", 1))
    assert command[:3] == ["turnproof", "run", "--target"]
    steps: list[str] = []
    examine(find_target(command[3]), lambda step, _: steps.append(step), attach=command[5])
    assert "a nonce made it all the way round" in steps


def test_run_whose_stack_ends_is_not_ready_and_keeps_what_it_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with contextlib.ExitStack() as ends:
        text = ends.enter_context(holding(find_target("reference"), STAND_IN, False, quietly))
        monkeypatch.setenv("TURNPROOF_API_KEY", place(text, "key"))
        target = from_url(place(text, "endpoint"))
        order = Order(target, expression="STREAM-3", out=tmp_path, attach=place(text, "control"))
        results, error = run(order, Observer(done=lambda _: ends.close()))
    assert isinstance(error, TargetNotReady)
    assert "it has ended, or let go of this run" in error.message
    assert summarise(results).exit_code == 3
    assert [check.verdict for check in results.checks] == ["pass"]


@pytest.mark.parametrize("alone", [True, False])
def test_for_a_target_that_its_user_starts_what_is_behind_it_is_held(url_target: Target, alone: bool) -> None:
    steps: list[str] = []
    with holding(url_target, STAND_IN, alone, lambda step, _: steps.append(step)) as text:
        assert asked(text).json()["title"] == "Hello"
        assert "models        house/vendor/x, house/tiny\n" in text
        control = place(text, "control")
        assert text.endswith(f"turnproof run --target {url_target.source} --attach {control}")
        assert held_at(control).description.name == "opencode stand-in"
    assert steps == ["the parts behind it are up"]
    with pytest.raises(UsageError, match="no control answers"):
        held_at(control)


def test_the_stack_alone_is_held_for_a_target_with_a_start_command_too() -> None:
    with holding(find_target("reference"), STAND_IN, True, quietly) as text:
        assert "endpoint" not in text
        assert "turnproof run --target URL --attach" in text


def test_what_is_held_has_the_waits_of_what_a_run_puts_behind(url_target: Target) -> None:
    with holding(url_target, STAND_IN, True, quietly) as text:
        assert held_at(place(text, "control")).description.pace == 8.0


def test_target_with_nothing_of_ours_behind_it_has_no_control(tmp_path: Path) -> None:
    with holding(load(Path(running.canned(tmp_path))), STAND_IN, False, quietly) as text:
        assert [line.split()[0] for line in text.splitlines() if line] == ["endpoint", "key", "curl"]


def test_opencode_that_is_held_itself_is_asked_for_a_session() -> None:
    with holding(find_target("stand-in"), STAND_IN, False, quietly) as text:
        assert asked(text).json()["title"] == "Hello"
        assert "control" not in text


@pytest.mark.parametrize(
    ("target", "words"),
    [
        (from_url("http://127.0.0.1:1"), "does not tell which models are to be served"),
        (find_target("stand-in"), "has none behind it"),
    ],
    ids=["bare URL", "opencode"],
)
def test_what_nothing_can_be_held_for_is_a_usage_error(target: Target, words: str) -> None:
    with pytest.raises(UsageError, match=words), holding(target, STAND_IN, True, quietly):
        pass


def test_example_of_the_docs_is_a_target_for_which_the_stack_is_held(tmp_path: Path) -> None:
    docs = (Path(__file__).parents[1] / "docs" / "targets.md").read_text(encoding="utf-8")
    section = docs.split("## A target that runs already")[1].split("\n## ")[0]
    example = re.search(r"```toml\n(.*?)```", section, re.DOTALL)
    assert example is not None
    (tmp_path / "running.toml").write_text(example[1], encoding="utf-8")
    with holding(load(tmp_path / "running.toml"), STAND_IN, True, quietly) as text:
        printed = re.search(r"```console\n\$ turnproof up --stack running.toml\n(.*?)```", section, re.DOTALL)
        assert printed is not None
        words = [re.sub(r"127\S+|password \S+|opencode:\S+", "", told) for told in (printed[1].strip(), text)]
        assert words[0] == words[1].replace(f"{tmp_path}/", "")
