"""Runs the steps of `action.yml` as a runner of GitHub does, and reads what they say as it does."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parent.parent
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]

_SECONDS = 300.0
_EXPRESSION = re.compile(r"\$\{\{ (inputs|steps)\.([a-z-]+)(?:\.outputs\.([a-z-]+))? \}\}")
_COMMAND = re.compile(r"::([a-z-]+)(?: ([^:]*))?::(.*)")
_SCRIPTS = sysconfig.get_path("scripts")
_PYTHON = f"""#!/bin/sh
# Stands for a Python whose venv has turnproof already: `-m venv FOLDER` makes one that notes what pip is asked for.
mkdir -p "$3/bin"
ln -sf "{_SCRIPTS}/turnproof" "$3/bin/turnproof"
cat > "$3/bin/python" << END
#!/bin/sh
[ "\\$2" = pip ] || exec "{sys.executable}" "\\$@"
printf "%s\\n" "\\$@" > "$3/pip"
END
chmod +x "$3/bin/python"
"""


@dataclass(frozen=True)
class Annotation:
    """A workflow command that annotates: its level, title and message."""

    level: str
    title: str
    message: str


@dataclass(frozen=True)
class Ended:
    """How the action ended: its exit code, outputs, annotations and other commands, the job's summary, and its log.

    `pip` is what pip was asked for, `written` what is in the workspace by its name.
    """

    code: int
    outputs: Mapping[str, str]
    annotations: tuple[Annotation, ...]
    commands: tuple[str, ...]
    summary: str
    log: str
    pip: tuple[str, ...]
    written: Mapping[str, Path]


def run_action(folder: Path, inputs: Mapping[str, str], environment: Mapping[str, str] | None = None) -> Ended:
    """Run the action in `folder / "workspace"` with these inputs. Nothing is installed."""
    workspace, temporary = folder / "workspace", folder / "temporary"
    for path in (workspace, temporary):
        path.mkdir(exist_ok=True)
    python = folder / "python"
    python.write_text(_PYTHON, encoding="utf-8")
    python.chmod(0o755)
    values = {name: str(declared["default"]) for name, declared in ACTION["inputs"].items()}
    values |= {"python": str(python), **inputs}
    summary, log, code = folder / "summary.md", "", 0
    outputs: dict[str, dict[str, str]] = {}
    for step in STEPS:
        told = folder / f"output-{uuid.uuid4().hex}"
        told.touch()
        summary.touch()
        script = folder / "step.sh"
        script.write_text(step["run"], encoding="utf-8")
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", str(script)],
            cwd=workspace,
            env={
                **os.environ,
                **(environment or {}),
                "GITHUB_ACTIONS": "true",
                "GITHUB_ACTION_PATH": str(ROOT),
                "GITHUB_OUTPUT": str(told),
                "GITHUB_STEP_SUMMARY": str(summary),
                "RUNNER_TEMP": str(temporary),
                **{name: _resolved(value, values, outputs) for name, value in step["env"].items()},
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
        log += done.stdout
        outputs[step.get("id", "")] = _outputs(told.read_text(encoding="utf-8"))
        if code := done.returncode:
            break
    commands = tuple(_commands(log))
    pip = temporary / "turnproof" / "pip"
    return Ended(
        code,
        {name: _resolved(declared["value"], values, outputs) for name, declared in ACTION["outputs"].items()},
        tuple(_annotation(command) for command in commands if command.startswith(("::error", "::warning", "::notice"))),
        commands,
        summary.read_text(encoding="utf-8"),
        log,
        tuple(pip.read_text(encoding="utf-8").splitlines()) if pip.exists() else (),
        {path.name: path for path in workspace.iterdir()},
    )


def _resolved(text: str, inputs: Mapping[str, str], outputs: Mapping[str, Mapping[str, str]]) -> str:
    def value(found: re.Match[str]) -> str:
        return inputs[found[2]] if found[1] == "inputs" else outputs.get(found[2], {}).get(found[3], "")

    return _EXPRESSION.sub(value, text)


def _outputs(text: str) -> dict[str, str]:
    found, lines = {}, iter(text.splitlines())
    for line in lines:
        name, mark, value = line.partition("<<") if "<<" in line.partition("=")[0] else line.partition("=")
        if mark == "<<":
            delimiter, kept = value, []
            while (line := next(lines)) != delimiter:
                kept.append(line)
            value = "\n".join(kept)
        found[name] = value
    return found


def _commands(log: str) -> list[str]:
    """The commands that the runner obeys: it trims lines, and obeys none between stop-commands and its word."""
    word, found = None, []
    for line in map(str.strip, log.splitlines()):
        if word is not None:
            word = None if line == f"::{word}::" else word
        elif command := _COMMAND.match(line):
            word = command[3] if command[1] == "stop-commands" else None
            found.append(line)
    return found


def _annotation(command: str) -> Annotation:
    parsed = _COMMAND.match(command)
    assert parsed
    properties = dict(entry.split("=", 1) for entry in (parsed[2] or "").split(","))
    return Annotation(parsed[1], _unescaped(properties["title"]), _unescaped(parsed[3]))


def _unescaped(text: str) -> str:
    for code, character in (("%2C", ","), ("%3A", ":"), ("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
        text = text.replace(code, character)
    return text
