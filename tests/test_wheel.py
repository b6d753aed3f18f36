from __future__ import annotations

import subprocess
import sys
import venv
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest

from harness.reporting.names import NAMES
from tests.running import turnproof

ROOT = Path(__file__).parent.parent


def call(*argv: str, cwd: Path = ROOT) -> None:
    done = subprocess.run(argv, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    call(sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path / "dist"))
    (built,) = (tmp_path / "dist").iterdir()
    return built


@pytest.fixture
def installed(wheel: Path, tmp_path: Path) -> Path:
    """The command of the wheel in an environment of its own, which takes the dependencies from the one at hand."""
    folder = tmp_path / "venv"
    venv.create(folder, symlinks=True)
    python = folder / "bin" / "python"
    call(sys.executable, "-m", "pip", "--python", str(python), "install", "--no-deps", "--no-index", str(wheel))
    (site,) = folder.glob("lib/python*/site-packages")
    # Named in a .pth, a folder is searched after all others, and its own .pth, our editable install's, is not read.
    (site / "dependencies.pth").write_text(str(Path(pytest.__file__).parent.parent))
    return folder / "bin" / "turnproof"


def test_wheel_holds_one_package_with_suites_fixtures_and_their_data(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    metadata = f"turnproof-{version('turnproof')}.dist-info"
    assert {name.partition("/")[0] for name in names} == {"harness", metadata}
    wanted = {
        "harness/suites/pytest.ini",
        "harness/suites/agent_endpoint/requirements.toml",
        "harness/suites/agent_endpoint/test_auth.py",
        "harness/fixtures/actors.py",
        "harness/fixtures/schemas/results.schema.json",
        "harness/fixtures/targets/reference-endpoint.toml",
        "harness/fixtures/starters/agent-endpoint.toml",
        "harness/fixtures/targets/reference-endpoint.json",
        "harness/docs/targets.md",
        "harness/docs/examples/aiohttp/endpoint.py",
        "harness/reports/report.html.j2",
        f"{metadata}/licenses/LICENSE",
    }
    assert wanted - set(names) == set()
    assert not any(
        "__pycache__" in name or name.startswith(("harness/reports/run", "harness/reports/sample")) for name in names
    )


def test_installed_wheel_judges_the_reference_outside_of_the_checkout(
    installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONPATH", raising=False)
    where = turnproof("-c", "import harness; print(harness.__file__)", cwd=tmp_path, command=[_python(installed)])
    assert where.stdout.startswith(str(tmp_path / "venv"))
    assert turnproof("--version", cwd=tmp_path, command=[str(installed)]).stdout.endswith(f"{version('turnproof')}\n")
    judged = turnproof("run", "-k", "AUTH", cwd=tmp_path, command=[str(installed)])
    assert judged.returncode == 0, judged.stdout + judged.stderr
    assert "conforms" in judged.stdout
    assert sorted(path.name for path in (tmp_path / "turnproof-report").iterdir()) == sorted(("results.jsonl", *NAMES))


def _python(command: Path) -> str:
    return str(command.parent / "python")
