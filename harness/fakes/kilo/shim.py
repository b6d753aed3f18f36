"""An executable named `kilo`, for targets that start one themselves: the stand-in, or a real CLI that is observed.

It is written into a folder of the run and put first on the target's PATH; it is never installed, because an installed
one would shadow the user's own. What the stand-in does is said in `behaviour.json` beside it (see
`harness.fakes.kilo.behaviour`); what either was given is written into `runs` (see `harness.fakes.kilo.diary`).
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

# Without site-packages and the user's environment, of which the stand-in needs nothing, Python is up sooner.
_PYTHON = (sys.executable, "-I", "-S", "-c")


def write_shim(folder: Path, binary: Path | None = None) -> Path:
    """The executable `kilo` in `folder`: the stand-in, or what becomes the real CLI at `binary`.

    It is run with the Python that runs this.
    """
    folder.mkdir(parents=True, exist_ok=True)
    root = Path(__file__).parents[3]
    module = "main" if binary is None else "recorder"
    program = f"import sys; sys.path.insert(0, {str(root)!r}); from harness.fakes.kilo.{module} import main; main()"
    real = [] if binary is None else [str(binary.resolve())]
    command = shlex.join([*_PYTHON, program, str(folder.resolve()), *real])
    shim = folder / "kilo"
    shim.write_text(f'#!/bin/sh\nexec {command} "$@"\n', encoding="utf-8")
    shim.chmod(0o755)
    return shim
