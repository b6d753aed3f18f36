"""The stand-in as an executable named `opencode`, for targets that start one themselves.

It is written into a folder of the run and put first on the target's PATH; it is never installed, because an installed
one would shadow the user's own.
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Literal, get_args

LaunchFault = Literal["not installed", "exits at once", "never ready", "port of a stranger"]
"""What is wrong with an opencode that a target starts.

`not installed`: there is none; `exits at once`: it ends with an error; `never ready`: it runs, and listens nowhere;
`port of a stranger`: it ends because its port is taken, by an opencode of somebody else, who asks for no password.
"""

LAUNCH_FAULTS: tuple[LaunchFault, ...] = get_args(LaunchFault)


def write_shim(folder: Path, pace: float = 1.0, fault: LaunchFault | None = None, real: Path | None = None) -> Path:
    """The executable `opencode` in `folder`, which starts the stand-in with the Python that runs this.

    Its waits are `pace` times shorter than the real one's. Where it is not installed the folder stays empty. With
    `real`, and nothing wrong, it is that real one.
    """
    folder.mkdir(parents=True, exist_ok=True)
    shim = folder / "opencode"
    if fault == "not installed":
        return shim
    if real is not None and fault is None:
        shim.symlink_to(real)
        return shim
    root = Path(__file__).parents[3]
    options = [f"--pace={pace:g}", *([f"--fault={fault}"] if fault else [])]
    line = f'exec {shlex.quote(sys.executable)} -m harness.fakes.opencode {shlex.join(options)} "$@"'
    path = f"PYTHONPATH={shlex.quote(str(root))}${{PYTHONPATH:+:$PYTHONPATH}}"
    shim.write_text(f"#!/bin/sh\n{path}\nexport PYTHONPATH\n{line}\n", encoding="utf-8")
    shim.chmod(0o755)
    return shim
