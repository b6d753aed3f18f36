"""Our pytest runs and those of our users stay out of each other's way."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.running import canned, turnproof

TEST = """
import pytest

@pytest.fixture
def client():
    return "the user's own"

@pytest.fixture
def key():
    return "the user's own"

@pytest.mark.parametrize("n", range(4))
def test_user(client, key, n):
    assert client == key == "the user's own"
"""


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTEST_DISABLE_PLUGIN_AUTOLOAD"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    "options",
    [(), ("-W", "error"), ("-W", "error", "-n", "2"), ("--strict-markers", "--strict-config", "-W", "error")],
    ids=" ".join,
)
def test_user_s_tests_run_as_before(pytester: pytest.Pytester, options: tuple[str, ...]) -> None:
    pytester.makepyfile(TEST)
    ran = pytester.runpytest_subprocess(*options)
    ran.assert_outcomes(passed=4)
    assert ran.errlines == []


def test_turnproof_is_among_the_user_s_plugins(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        "def test_x(request): assert request.config.pluginmanager.hasplugin('turnproof')",
    )
    pytester.runpytest_subprocess().assert_outcomes(passed=1)


def test_user_s_fixtures_are_not_ours(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_x(nonce): pass")
    ran = pytester.runpytest_subprocess()
    ran.assert_outcomes(errors=1)
    ran.stdout.fnmatch_lines("*fixture 'nonce' not found*")


BENDING = """
import pytest

@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item, call):
    report = yield
    report.outcome = "passed"
    return report

def pytest_collection_modifyitems(items):
    del items[:]

def pytest_configure(config):
    open("loaded", "w").close()
"""


@pytest.fixture
def bent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which everything is made up to bend what pytest does."""
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --no-such-option\ntestpaths = nowhere\n")
    (tmp_path / "conftest.py").write_text(BENDING)
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "bending.py").write_text(BENDING)
    metadata = tmp_path / "plugins" / "bending-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: bending\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[pytest11]\nbending = bending\n")
    (metadata / "RECORD").write_text("bending.py,,\n")
    paths = [str(tmp_path / "plugins"), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))
    monkeypatch.setenv("PYTEST_ADDOPTS", "--no-such-option -k nothing --maxfail=1")
    monkeypatch.setenv("PYTEST_PLUGINS", "bending")
    return tmp_path


@pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["alone", "n2"])
def test_nothing_of_the_user_s_pytest_bends_a_run(bent: Path, options: tuple[str, ...]) -> None:
    told = turnproof(
        "run", "--target", canned(bent), "-k", "good_key and (header or scheme)", "--out", "out", *options, cwd=bent
    )
    assert told.returncode == 0, told.stdout + told.stderr
    assert "6/6 pass" in told.stderr
    assert not (bent / "loaded").exists()


def test_nothing_of_the_user_s_pytest_hides_a_failure(bent: Path) -> None:
    target = Path(canned(bent))
    target.write_text(target.read_text().replace('stream = "reject"', 'stream = "as_false"'))
    told = turnproof(
        "run", "--target", str(target), "-k", "never_yields or (good_key and header)", "--out", "out", cwd=bent
    )
    assert told.returncode == 1, told.stdout + told.stderr
    assert not (bent / "loaded").exists()


def test_nothing_of_the_user_s_pytest_bends_a_replay(bent: Path) -> None:
    turnproof("run", "--target", canned(bent), "-k", "good_key and header", "--out", "out", cwd=bent)
    told = turnproof("verify", "out/results.jsonl", cwd=bent)
    assert (told.returncode, told.stdout.splitlines()[-1]) == (0, "verdicts   2 of 2 were confirmed by replay")
