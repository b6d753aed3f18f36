"""The agent as a process: its command line and its server."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import uvicorn

from harness.errors import UsageError
from harness.reference.kilo.app import create_app
from harness.reference.kilo.config import load_config
from harness.reference.kilo.parts import Parts

_SHUTDOWN_SECONDS = 1


def serve(arguments: Sequence[str], parts: Parts | None = None, program: str | None = None) -> int:
    """Serve until told to stop; the exit code. `parts` makes it another agent than the reference."""
    parser = argparse.ArgumentParser(program, description=__doc__)
    parser.add_argument("--port", type=int, required=True, help="the port to listen on")
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (%(default)s)")
    parser.add_argument("--config", type=Path, required=True, help="the JSON file with the configuration")
    options = parser.parse_args(arguments)
    try:
        app = create_app(load_config(options.config), parts)
    except UsageError as error:
        sys.stderr.write(f"{error.message}\n{error.hint}\n")
        return error.exit_code
    uvicorn.run(
        app,
        host=options.host,
        port=options.port,
        log_level="warning",
        access_log=False,
        ws="none",
        timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
    )
    return 0
