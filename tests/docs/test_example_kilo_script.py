"""The example of a Kilo agent as a shell script."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from harness.results import read
from tests.running import EXAMPLES, turnproof

pytestmark = pytest.mark.skipif(
    shutil.which("jq") is None or sys.platform != "linux", reason="the script needs jq, and /proc"
)

TARGET = str(EXAMPLES / "kilo-script" / "target.toml")
QUICK = "CMD-1 or (CAPTURE-1 and responses)"


def test_agent_in_shell_conforms(tmp_path: Path) -> None:
    told = turnproof("run", "--suite", "kilo_agent", "--target", TARGET, "-k", QUICK, "--out", "out", cwd=tmp_path)
    assert told.returncode == 0, told.stdout + told.stderr
    verdicts = [check.verdict for check in read(tmp_path / "out" / "results.jsonl").checks]
    assert set(verdicts) <= {"pass", "not-measured"}
    assert verdicts.count("pass") > len(verdicts) / 2
