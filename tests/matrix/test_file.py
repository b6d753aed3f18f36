from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.matrix.file import load_matrix
from harness.matrix.plan import SECONDS, Comparison, Matrix

KILO = 'name = "m"\n[[compare]]\nbinary = "kilo"\nsuite = "kilo_cli"\nversions = ["7.7.7", "7.7.9"]\n'
ENDPOINT = 'name = "m"\n[[compare]]\nbinary = "opencode"\nsuite = "agent_endpoint"\nversions = ["1.18.33"]\n'


def loaded(folder: Path, text: str) -> Matrix:
    path = folder / "m.toml"
    path.write_text(text, encoding="utf-8")
    return load_matrix(path)


def test_file_names_versions_and_suites(tmp_path: Path) -> None:
    assert loaded(tmp_path, KILO) == Matrix("m", (Comparison("kilo", "kilo_cli", ("7.7.7", "7.7.9")),), SECONDS)


def test_file_may_say_how_long_a_cell_takes_and_which_checks_it_makes(tmp_path: Path) -> None:
    text = KILO.replace("[[", "within = 60\n[[") + 'checks = "REASON"\nstrict = true\nrequire_all = true\n'
    wanted = Comparison("kilo", "kilo_cli", ("7.7.7", "7.7.9"), None, "REASON", True, True)
    assert loaded(tmp_path, text) == Matrix("m", (wanted,), 60.0)


def test_target_file_is_found_from_the_folder_of_the_matrix_file(tmp_path: Path) -> None:
    (tmp_path / "own.toml").touch()
    (found,) = loaded(tmp_path, f'{ENDPOINT}target = "own.toml"\n').comparisons
    assert found.target == str(tmp_path / "own.toml")


def test_target_that_is_no_file_is_a_name(tmp_path: Path) -> None:
    (found,) = loaded(tmp_path, f'{ENDPOINT}target = "reference"\n').comparisons
    assert found.target == "reference"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "m.toml:1: name is missing: add name = "),
        ('name = "m"\n', "m.toml:1: compare is missing: add [[compare]]"),
        ("name = \n", "m.toml:1: not TOML"),
        ('name = "m"\ncompare = []\n', "m.toml:2: compare: must not be empty"),
        (KILO + "typo = 1\n", "m.toml:6: compare[0].typo: unknown key"),
        (KILO.replace('binary = "kilo"\n', ""), 'compare[0]: binary is missing: add binary = "kilo"'),
        (KILO.replace('binary = "kilo"', 'binary = "node"'), '"node" is not one of kilo, opencode'),
        (KILO.replace("kilo_cli", "nothing"), "m.toml:4: compare[0].suite:"),
        (KILO.replace("7.7.9", "latest"), '"latest" is not an exact version such as 7.7.9'),
        (KILO.replace("7.7.9", "7.7.7"), "is here twice: keep one"),
        (KILO.replace("[[", "within = 0\n[["), "within: 0 is out of range: it must be more than 0"),
        (
            KILO.replace("kilo_cli", "opencode_server"),
            "opencode_server does not judge kilo: name one of kilo_cli, kilo_",
        ),
        (KILO + 'target = "x.toml"\n', "m.toml:6: compare[0].target: is for agent_endpoint only"),
        (KILO + KILO.partition("\n")[2], "m.toml:5: compare[0].versions[0]: 7.7.7 is judged by kilo_cli twice"),
    ],
)
def test_bad_file_is_refused_with_line_and_key(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(UsageError) as refused:
        loaded(tmp_path, text)
    assert words in refused.value.message


def test_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file"):
        load_matrix(tmp_path / "nothing.toml")


def test_suites_of_one_binary_are_compared_side_by_side(tmp_path: Path) -> None:
    text = KILO + KILO.partition("\n")[2].replace("kilo_cli", "kilo_agent")
    assert [comparison.suite for comparison in loaded(tmp_path, text).comparisons] == ["kilo_cli", "kilo_agent"]
