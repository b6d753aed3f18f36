"""The stand-in as an executable named `opencode`, for targets that start one themselves.

It is written into a folder of the run and put first on the target's PATH; it is never installed, because an installed
one would shadow the user's own.
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path


def write_shim(folder: Path) -> Path:
    """The executable `opencode` in `folder`, which starts the stand-in with the Python that runs this."""
    folder.mkdir(parents=True, exist_ok=True)
    shim = folder / "opencode"
    root = Path(__file__).parents[3]
    line = f'exec {shlex.quote(sys.executable)} -m harness.fakes.opencode "$@"'
    path = f"PYTHONPATH={shlex.quote(str(root))}${{PYTHONPATH:+:$PYTHONPATH}}"
    shim.write_text(f"#!/bin/sh\n{path}\nexport PYTHONPATH\n{line}\n", encoding="utf-8")
    shim.chmod(0o755)
    return shim
