"""The stand-in as a process: started as `opencode serve` is, with the configuration that the real one would read."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from harness.fakes.opencode.behaviour import Behaviour
from harness.fakes.opencode.jsonc import parsed
from harness.fakes.opencode.server import OpencodeServer, with_pace
from harness.fakes.opencode.settings import merged
from harness.fakes.opencode.shim import LAUNCH_FAULTS
from harness.fakes.opencode.store import Store

_USUAL_PORT = 4096
_NAMES = ("opencode.json", "opencode.jsonc")


def main(arguments: Sequence[str], behaviour: Behaviour | None = None) -> int:
    """Serve until told to stop; the exit code."""
    behaviour = behaviour or Behaviour()
    options = _options(arguments, behaviour)
    signal.signal(signal.SIGTERM, signal.SIG_DFL if behaviour.ends_at_sigterm else signal.SIG_IGN)
    if options.fault is not None:
        return _fail(options.fault, options.hostname, options.port)
    try:
        settings = configuration(os.environ, Path.cwd(), parsed if behaviour.takes_comments else json.loads)
        asyncio.run(_serve(settings, options.hostname, options.port, with_pace(behaviour, options.pace)))
    except (OSError, ValueError) as error:
        sys.stderr.write(f"Error: {error}\n")
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


class _Parser(argparse.ArgumentParser):
    """Ends with 1 at an option that it does not know."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(1, f"{self.prog}: {message}\n")


def _options(arguments: Sequence[str], behaviour: Behaviour) -> argparse.Namespace:
    """The command line; the options that only concern the real one are taken and change nothing."""
    about = "A stand-in for opencode, for tests of what uses it."
    parser = _Parser("opencode", description=about, allow_abbrev=False)
    parser.add_argument("--version", action="version", version=behaviour.version)
    parser.add_argument("--pace", type=float, default=1.0, help="how many times shorter its waits are")
    parser.add_argument("--fault", choices=LAUNCH_FAULTS, help="what is wrong with it")
    serving = parser.add_subparsers(dest="command", required=True).add_parser("serve", allow_abbrev=False)
    serving.add_argument("--port", type=int, default=0)
    serving.add_argument("--hostname", default="127.0.0.1")
    if behaviour.knows_options:
        serving.add_argument("--log-level", choices=("DEBUG", "INFO", "WARN", "ERROR"))
        serving.add_argument("--mdns-domain")
        serving.add_argument("--cors", nargs="+", action="extend")
        for flag in ("--print-logs", "--pure", "--mdns"):
            serving.add_argument(flag, nargs="?", choices=("true", "false"), const="true")
    return parser.parse_args(arguments)


def _fail(fault: str, host: str, port: int) -> int:
    """Go wrong as a launch can; the exit code."""
    if fault == "never ready":
        signal.pause()
    if fault == "port of a stranger":
        _stranger(host, port)
        sys.stderr.write(f"Error: Failed to start server. Is port {port} in use?\n")
        return 1
    sys.stderr.write("Error: Unexpected error, check log file\n")
    return 1


def _stranger(host: str, port: int) -> None:
    """Start a server of somebody else on the port; ends once it listens."""
    command = [sys.executable, "-m", "harness.fakes.opencode", "serve", "--port", str(port), "--hostname", host]
    env = {name: value for name, value in os.environ.items() if not name.startswith("OPENCODE_SERVER_")}
    stranger = subprocess.Popen(
        command,
        env=env,
        start_new_session=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
    )
    assert stranger.stdout is not None
    stranger.stdout.readline()


def configuration(environ: Mapping[str, str], folder: Path, parse: Callable[[str], Any] = parsed) -> dict[str, Any]:
    """What is configured: for the user, by `OPENCODE_CONFIG`, in the folder, by `OPENCODE_CONFIG_CONTENT`, each over
    the one before; raises ValueError for what cannot be parsed, or is no object."""
    home = Path(environ.get("HOME", "~")).expanduser()
    user = Path(environ.get("XDG_CONFIG_HOME") or home / ".config") / "opencode"
    files = [user / name for name in _NAMES]
    if environ.get("OPENCODE_CONFIG"):
        files.append(Path(environ["OPENCODE_CONFIG"]))
    files += [folder / name for name in _NAMES]
    texts = [path.read_text(encoding="utf-8") for path in files if path.is_file()]
    if environ.get("OPENCODE_CONFIG_CONTENT"):
        texts.append(environ["OPENCODE_CONFIG_CONTENT"])
    layers = [parse(text) for text in texts]
    if not all(isinstance(layer, dict) for layer in layers):
        raise ValueError("the configuration is no object")
    return {key: _with_environment(value, environ) for key, value in merged(*layers).items()}


def _data_folder(environ: Mapping[str, str]) -> Path:
    home = Path(environ.get("HOME", "~")).expanduser()
    return Path(environ.get("XDG_DATA_HOME") or home / ".local/share") / "opencode-stand-in"


def _with_environment(value: Any, environ: Mapping[str, str]) -> Any:
    """`{env:NAME}` in texts is the variable's value, or nothing."""
    if isinstance(value, str) and "{env:" in value:
        before, _, rest = value.partition("{env:")
        name, _, after = rest.partition("}")
        return before + environ.get(name, "") + str(_with_environment(after, environ))
    if isinstance(value, dict):
        return {key: _with_environment(item, environ) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_environment(item, environ) for item in value]
    return value


async def _serve(settings: Mapping[str, Any], host: str, port: int, behaviour: Behaviour) -> None:
    password = os.environ.get("OPENCODE_SERVER_PASSWORD") or None
    named = os.environ.get("OPENCODE_SERVER_USERNAME") if behaviour.obeys_username else None
    store = Store(_data_folder(os.environ) / "sessions", behaviour.keeps)
    server = OpencodeServer(settings, Path.cwd(), password, named or "opencode", behaviour, store)
    await _listen(server, host, port)
    if password is None:
        sys.stdout.write("Warning: OPENCODE_SERVER_PASSWORD is not set; server is unsecured.\n")
    sys.stdout.write(f"opencode server listening on http://{host}:{server.port}\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


async def _listen(server: OpencodeServer, host: str, port: int) -> None:
    """Listen on the port; where none is named, on the usual one, or on any when that is taken."""
    try:
        await server.start(host, port or _USUAL_PORT)
    except OSError:
        if port:
            raise
        await server.start(host)
