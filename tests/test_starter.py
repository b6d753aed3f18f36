from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.cli import main
from harness.kinds import KINDS
from harness.starter import SCHEMA_NAME, begin, kinds, starter
from harness.target_file import load
from harness.target_schema import SCHEMA_FILE, target_schema


@pytest.mark.parametrize("kind", kinds())
def test_starter_is_a_target_of_its_kind(kind: str, tmp_path: Path) -> None:
    begin(kind, tmp_path / "my.toml")
    assert load(tmp_path / "my.toml").kind == kind


@pytest.mark.parametrize("kind", kinds())
def test_starter_shows_every_key_of_its_kind_and_no_other(kind: str) -> None:
    shown = set(re.findall(r"^(?:# )?\[*(\w+)(?=[.\]]| =)", starter(kind), re.MULTILINE))
    shown |= set(re.findall(r"\[\[?(\w+)\]", starter(kind)))
    properties = target_schema()["properties"]
    wanted = {key for key, schema in properties.items() if kind in schema.get("x-kinds", [kind])}
    alternative = {"url"} if re.search(r"url = ", starter(kind)) else set()
    assert wanted <= shown | alternative
    assert not (shown & properties.keys()) - wanted


@pytest.mark.parametrize("kind", kinds())
def test_what_a_starter_comments_out_can_be_taken_in(kind: str) -> None:
    """Each commented line that is TOML names keys that the schema knows."""
    known = set(re.findall(r'"(\w+)"', json.dumps(target_schema())))
    for line in re.findall(r"^# (\w+ = .*|\[.*\])$", starter(kind), re.MULTILINE):
        (key, *_) = tomllib.loads(line)
        assert key in known | {"PATH", "MODEL_URL"}


def test_there_is_a_starter_for_every_kind() -> None:
    assert kinds() == tuple(kind.name for kind in KINDS)


@pytest.mark.parametrize("kind", kinds())
def test_init_writes_the_file_and_the_schema_that_it_names(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    told = CliRunner().invoke(main, ["init", kind])
    assert (told.exit_code, told.stdout) == (0, f"{kind}.toml\n")
    text = Path(f"{kind}.toml").read_text(encoding="utf-8")
    assert text.startswith(f"#:schema ./{SCHEMA_NAME}\n")
    assert f"turnproof run --target {kind}.toml" in text
    assert Path(SCHEMA_NAME).read_bytes() == SCHEMA_FILE.read_bytes()


def test_init_leaves_a_file_that_is_there_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "my.toml"
    path.write_text("mine", encoding="utf-8")
    told = CliRunner().invoke(main, ["init", "kilo-cli", str(path)])
    assert told.exit_code == 2
    assert "there is a file already" in told.stderr
    assert path.read_text(encoding="utf-8") == "mine"


def test_init_into_a_folder_that_there_is_not_is_a_usage_error(tmp_path: Path) -> None:
    told = CliRunner().invoke(main, ["init", "kilo-cli", str(tmp_path / "no" / "my.toml")])
    assert (told.exit_code, "cannot be written" in told.stderr) == (2, True)


def test_schema_is_printed_as_it_is() -> None:
    assert CliRunner().invoke(main, ["schema"]).stdout == SCHEMA_FILE.read_text(encoding="utf-8")
