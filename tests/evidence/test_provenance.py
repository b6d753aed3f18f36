from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from harness.builtin import find_target
from harness.errors import UsageError
from harness.evidence.provenance import Commit, Provenance, commit_in, matches, provenance_of, sources_digest
from harness.target_file import from_url


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.com"]
    told = subprocess.run(["git", "-C", str(folder), *identity, *arguments], capture_output=True, text=True, check=True)
    return told.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init", "--quiet")
    (tmp_path / ".gitignore").write_text("ignored\n")
    (tmp_path / "app.py").write_text("one")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "-m", "one")
    return tmp_path


def test_the_commit_of_a_folder_is_seen(repository: Path) -> None:
    assert commit_in(repository) == Commit(git(repository, "rev-parse", "HEAD"))


def test_files_that_are_not_committed_are_seen(repository: Path) -> None:
    (repository / "app.py").write_text("two")
    found = commit_in(repository)
    assert found is not None
    assert found.changed


def test_a_folder_that_its_repository_ignores_has_no_commit(repository: Path) -> None:
    (repository / "ignored").mkdir()
    assert commit_in(repository / "ignored") is None


def test_a_folder_in_no_repository_has_no_commit(tmp_path: Path) -> None:
    assert commit_in(tmp_path) is None


def test_a_commit_that_is_claimed_must_be_the_one_that_is_seen(repository: Path) -> None:
    target = replace(find_target("reference"), folder=repository)
    seen = git(repository, "rev-parse", "HEAD")
    assert provenance_of(target, seen[:10]).target == Commit(seen)
    with pytest.raises(UsageError, match="is at commit"):
        provenance_of(target, "0" * 40)


def test_a_target_at_a_url_has_the_commit_that_is_claimed() -> None:
    target = from_url("http://127.0.0.1:1")
    assert provenance_of(target).target is None
    assert provenance_of(target, "a" * 40).target == Commit("a" * 40, claimed=True)


def test_a_commit_is_named_by_seven_digits_or_more() -> None:
    assert matches("ABCDEF1234", "abcdef1")
    assert not matches("abcdef1234", "abcdef")
    assert not matches("abcdef1234", "bcdef12")


def test_the_sources_have_one_digest() -> None:
    assert sources_digest() == sources_digest()


@pytest.mark.parametrize("commit", [None, Commit("a" * 40, changed=True)])
def test_provenance_survives_json(commit: Commit | None) -> None:
    made = Provenance("1", "2", commit, "3", "4")
    assert Provenance.from_json(made.to_json()) == made
