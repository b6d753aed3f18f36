from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.fakes.kilo.configuration import BadConfiguration, files, read
from harness.fakes.kilo.rules import NEWEST, Rules, table_of

RULES = Rules.from_table(table_of(NEWEST))
OLD = Rules.from_table(table_of("7.0.33"))


def settings(folder: Path, env: dict[str, str], rules: Rules = RULES) -> dict[str, Any]:
    return read(files(str(folder), env), env, rules)


def test_what_is_nearer_wins_and_the_rest_is_kept(tmp_path: Path) -> None:
    project, given = tmp_path / "project", tmp_path / "given"
    for path, value in (
        (tmp_path / "user" / "kilo" / "kilo.json", "user"),
        (tmp_path / "kilo.json", "parent"),
        (project / "kilo.json", "folder"),
        (project / ".kilo" / "kilo.json", "hidden"),
        (given / "kilo.json", "variable"),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'{{"model": "{value}", "{value}": true}}')
    env = {"XDG_CONFIG_HOME": str(tmp_path / "user")}
    assert settings(project, env)["model"] == "hidden"
    found = settings(project, {**env, "KILO_CONFIG_DIR": str(given), "KILO_CONFIG_CONTENT": '{"model": "content"}'})
    assert found["model"] == "content"
    assert all(found[name] is True for name in ("user", "parent", "folder", "hidden", "variable"))


def test_comments_and_last_commas_are_passed_over_but_not_in_strings(tmp_path: Path) -> None:
    text = '{"a": "http://x/*y*/", // all of this\n "b": [1, 2,], /* and\n this */ }'
    (tmp_path / "kilo.jsonc").write_text(text)
    assert settings(tmp_path, {}) == {"a": "http://x/*y*/", "b": [1, 2]}


def test_variables_stand_for_what_they_hold(tmp_path: Path) -> None:
    (tmp_path / "kilo.json").write_text('{"key": "{env:KEY}", "none": "{env:NONE}"}')
    assert settings(tmp_path, {"KEY": 'a"b'}) == {"key": 'a"b', "none": ""}


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"provider": 3}',
        '{"provider": {"nemo": 3}}',
        '{"provider": {"nemo": {"models": {"m": 3}}}}',
        '{"provider": {"nemo": {"models": {"m": {"limit": {"context": 1}}}}}}',
        '{"provider": {"nemo": {"models": {"m": {"interleaved": {"field": "reasoning"}}}}}}',
    ],
)
def test_a_bad_file_is_refused_by_the_old_version(tmp_path: Path, text: str) -> None:
    (tmp_path / "kilo.json").write_text(text)
    with pytest.raises(BadConfiguration, match=r"Configuration is invalid at .*/kilo\.json"):
        settings(tmp_path, {}, OLD)


def test_a_bad_file_is_passed_over_by_the_new_version(tmp_path: Path) -> None:
    (tmp_path / "kilo.json").write_text('{"model": "m", "provider": 3}')
    assert settings(tmp_path, {"KILO_CONFIG_CONTENT": '{"a": 1}'}) == {"a": 1}


def test_the_users_folder_is_read_where_no_other_is_given(tmp_path: Path) -> None:
    path = tmp_path / ".config" / "kilo" / "kilo.json"
    path.parent.mkdir(parents=True)
    path.write_text('{"model": "user"}')
    home = {"HOME": str(tmp_path)}
    project = tmp_path / "project"
    assert settings(project, home) == {"model": "user"}
    assert settings(project, {**home, "XDG_CONFIG_HOME": str(tmp_path / "own")}) == {}
