"""The stand-in as an executable named `kilo`, for targets that start one themselves.

It is written into a folder of the run and put first on the target's PATH; it is never installed, because an installed
one would shadow the user's own. What it does is said in `behaviour.json` beside it (see
`harness.fakes.kilo.behaviour`), what it was given is written into `runs` (see `harness.fakes.kilo.diary`).
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

# Without site-packages and the user's environment, of which the stand-in needs nothing, Python is up sooner.
_PYTHON = (sys.executable, "-I", "-S", "-c")


def write_shim(folder: Path) -> Path:
    """The executable `kilo` in `folder`, which runs the stand-in with the Python that runs this."""
    folder.mkdir(parents=True, exist_ok=True)
    root = Path(__file__).parents[3]
    program = f"import sys; sys.path.insert(0, {str(root)!r}); from harness.fakes.kilo.main import main; main()"
    command = shlex.join([*_PYTHON, program, str(folder.resolve())])
    shim = folder / "kilo"
    shim.write_text(f'#!/bin/sh\nexec {command} "$@"\n', encoding="utf-8")
    shim.chmod(0o755)
    return shim
