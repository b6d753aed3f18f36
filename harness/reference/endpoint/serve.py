"""The endpoint as a process: its command line and its server."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import uvicorn

from harness.errors import UsageError
from harness.reference.endpoint.app import create_app
from harness.reference.endpoint.config import load_config
from harness.reference.endpoint.parts import Parts

_SHUTDOWN_SECONDS = 1


def serve(arguments: Sequence[str], parts: Parts | None = None, program: str | None = None) -> int:
    """Serve until told to stop; the exit code. `parts` makes it another endpoint than the reference."""
    parser = argparse.ArgumentParser(program, description=__doc__)
    parser.add_argument("--port", type=int, required=True, help="the port to listen on")
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (%(default)s)")
    parser.add_argument("--config", type=Path, required=True, help="the JSON file with the configuration")
    options = parser.parse_args(arguments)
    try:
        config = load_config(options.config, os.environ)
    except UsageError as error:
        sys.stderr.write(f"{error.message}\n{error.hint}\n")
        return error.exit_code
    for folder in config.folders.values():
        Path(folder).mkdir(parents=True, exist_ok=True)
    app = create_app(config, parts)
    uvicorn.run(
        app,
        host=options.host,
        port=options.port,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
    )
    return 0
