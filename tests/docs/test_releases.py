from __future__ import annotations

import json
import re
from pathlib import Path

from harness import kilo_recorded
from harness.matrix.file import load_matrix
from harness.record.recording import versions
from harness.target_schema import MATRIX_FILE

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "releases.md").read_text(encoding="utf-8")
TABLE = (DOCS / "release-matrix.md").read_text(encoding="utf-8")


def test_releases_are_those_that_are_recorded() -> None:
    found = {comparison.suite: comparison.versions for comparison in load_matrix(DOCS / "releases.toml").comparisons}
    assert found == {"kilo_cli": kilo_recorded.versions(), "opencode_server": tuple(versions())}


def test_table_has_every_cell() -> None:
    for task in load_matrix(DOCS / "releases.toml").tasks:
        assert re.search(rf"^\| {re.escape(task.version)} \| ", TABLE, re.MULTILINE), task


def test_example_is_a_matrix_file_with_every_key(tmp_path: Path) -> None:
    found = re.search(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    (tmp_path / "example.toml").write_text(found[1], encoding="utf-8")
    assert len(load_matrix(tmp_path / "example.toml").tasks) == 4
    schema = json.loads(MATRIX_FILE.read_text(encoding="utf-8"))
    for key in {*schema["properties"], *schema["properties"]["compare"]["items"]["properties"]}:
        assert re.search(rf"^(\[\[)?{key}(\]\]| = )", found[1], re.MULTILINE), key
