"""The example of an endpoint that runs somewhere else, with its key in the environment."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.engine import Engine
from harness.results import Results, read
from tests.running import EXAMPLES, turnproof
from tests.staging import KEY, answering, canned, serving

FILE = EXAMPLES / "remote" / "target.toml"


@pytest.fixture
def target(engine: Engine, tmp_path: Path) -> Iterator[str]:
    """The example, with the address of an endpoint that is there."""
    with serving(engine, answering(canned)) as url:
        path = tmp_path / "target.toml"
        text = FILE.read_text(encoding="utf-8")
        assert text.count("http://127.0.0.1:9000") == 1
        path.write_text(text.replace("http://127.0.0.1:9000", url), encoding="utf-8")
        yield str(path)


def results(folder: Path) -> Results:
    return read(folder / "out" / "results.jsonl")


def test_remote_endpoint_is_judged_as_far_as_its_answers_show(target: str, tmp_path: Path) -> None:
    arguments = ("run", "--target", target, "-k", "AUTH-1 or SCOPE-1", "--out", "out")
    told = turnproof(*arguments, cwd=tmp_path, env={"REMOTE_ENDPOINT_KEY": KEY})
    assert told.returncode == 0, told.stdout + told.stderr
    verdicts = {check.verdict for check in results(tmp_path).checks}
    assert verdicts == {"pass", "not-measured", "not-applicable"}
    for written in (tmp_path / "out").iterdir():
        assert KEY not in written.read_text(encoding="utf-8")


def test_remote_endpoint_without_its_key_is_a_usage_error(target: str, tmp_path: Path) -> None:
    told = turnproof("doctor", target, cwd=tmp_path, env={"REMOTE_ENDPOINT_KEY": ""})
    assert told.returncode == 2
    assert "the environment variable REMOTE_ENDPOINT_KEY is not set" in told.stderr
