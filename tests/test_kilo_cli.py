from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.engine import Engine
from harness.kilo_cli import Cli, Ran, Start
from harness.supervised import StartFailed

SECONDS = 20.0
URL = "http://127.0.0.1:9/v1"
SHOW = """
import os, pathlib, sys
print(sys.argv[1:], os.environ["HOME"], os.environ["XDG_DATA_HOME"], sys.stdin.read())
print(pathlib.Path("kilo.json").read_text() if os.path.exists("kilo.json") else "none")
print(sorted(name for name in os.environ if "PROXY" in name.upper()), file=sys.stderr)
pathlib.Path(os.environ["HOME"], "left.txt").write_text("left")
"""


@pytest.fixture
def cli(engine: Engine, tmp_path: Path) -> Iterator[Cli]:
    with Cli(engine, [sys.executable, "-c", SHOW], tmp_path, URL) as cli:
        yield cli


def test_paths_and_addresses_are_replaced_both_ways(cli: Cli) -> None:
    start = Start(("--dir", "{project}"), {"url": "{model_url}"}, stdin="given")
    ran = cli.begin(start).result(SECONDS)
    assert ran.stdout.splitlines() == [
        "['--dir', '{project}'] {home} {own}/data given",
        '{"url": "{model_url}"}',
    ]
    assert "HTTPS_PROXY" in ran.stderr
    assert (ran.status, dict(ran.home)) == (0, {"left.txt": "left"})


def test_each_start_has_folders_of_its_own(cli: Cli) -> None:
    first, second = cli.begin(Start(())), cli.begin(Start((), {"a": 1}))
    assert first.result(SECONDS).stdout.splitlines()[1] == "none"
    assert second.result(SECONDS).stdout.splitlines()[1] == '{"a": 1}'


def test_variables_are_added_and_removed(engine: Engine, tmp_path: Path) -> None:
    program = "import os; print(os.environ.get('OWN'), os.environ.get('XDG_DATA_HOME'))"
    with Cli(engine, [sys.executable, "-c", program], tmp_path, URL) as cli:
        ran = cli.begin(Start((), env={"OWN": "1", "XDG_DATA_HOME": None})).result(SECONDS)
    assert ran.stdout == "1 None\n"


def test_one_that_does_not_end_is_ended(engine: Engine, tmp_path: Path) -> None:
    program = "import time; print('begun', flush=True); time.sleep(600)"
    with Cli(engine, [sys.executable, "-c", program], tmp_path, URL) as cli:
        ran = cli.begin(Start(())).result(0.5)
    assert ran.status is None


def test_settling_ends_what_is_under_way(engine: Engine, tmp_path: Path) -> None:
    with Cli(engine, [sys.executable, "-c", "import time; time.sleep(600)"], tmp_path, URL) as cli:
        going = cli.begin(Start(()))
        cli.settle()
        assert going.result(SECONDS).status is not None


def test_a_command_that_is_not_there_cannot_be_started(engine: Engine, tmp_path: Path) -> None:
    with Cli(engine, [str(tmp_path / "none")], tmp_path, URL) as cli, pytest.raises(StartFailed):
        cli.begin(Start(()))


def test_what_came_is_the_same_after_json() -> None:
    ran = Ran(None, 1.5, "out", "err", ("a.example",), {"x": "y"})
    assert Ran.from_json(ran.to_json()) == ran
