"""A command that takes a prompt and prints the answer, as a server of the Responses API.

    python kilo_command.py PORT PROMPT COMMAND...

The command is started for each `POST /v1/responses` whose `input` is a text. The word PROMPT in its arguments stands
for that text; when it is in none, the text comes on its standard input. Inside a rollout, which is
`/ng-rollout/<id>/v1/responses`, the variable AGENT_ROLLOUT holds the id. Headers of each answer tell people how the
command was run. It runs by itself, on the standard library.
"""

from __future__ import annotations

import http.server
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROLLOUT = "AGENT_ROLLOUT"
"""The variable that tells the command inside which rollout it is started."""

CONFIGURATION = "AGENT_"
"""What the variables begin with that tell the command its configuration."""

_PATH = re.compile(r"(?:/ng-rollout/([^/]+))?/v1/responses")


class Ran(NamedTuple):
    """What came of a start of the command: the status of HTTP and the body that say it, and its exit status."""

    status: int
    body: Mapping[str, Any]
    ended: int


def run(command: Sequence[str], word: str, prompt: str, rollout: str | None) -> Ran:
    """Start the command for a prompt; raises OSError or ValueError when that cannot be done."""
    in_arguments = any(word in part for part in command)
    environment = {name: value for name, value in os.environ.items() if name != ROLLOUT}
    ran = subprocess.run(
        [part.replace(word, prompt) for part in command],
        env={**environment, ROLLOUT: rollout} if rollout is not None else environment,
        input=b"" if in_arguments else prompt.encode(),
        stdout=subprocess.PIPE,
        check=False,
    )
    if ran.returncode != 0:
        failed = _error(f"the command ended with status {ran.returncode}", "command_failed")
        return Ran(500, failed, ran.returncode)
    content = [
        {"type": "output_text", "text": ran.stdout.decode(errors="replace").removesuffix("\n"), "annotations": []}
    ]
    message = {"type": "message", "role": "assistant", "status": "completed", "content": content}
    body = {"object": "response", "status": "completed", "error": None, "output": [message]}
    return Ran(200, body, ran.returncode)


def told(command: Sequence[str], word: str) -> Mapping[str, str]:
    """How the command is run, as headers: its arguments, with `{prompt}` for that, and its configuration."""
    names = (name for name in sorted(os.environ) if name.startswith(CONFIGURATION) and name != ROLLOUT)
    return {
        "turnproof-command": json.dumps([part.replace(word, "{prompt}") for part in command]),
        "turnproof-variables": json.dumps({name: os.environ[name] for name in names}),
    }


def _error(message: str, kind: str) -> Mapping[str, Any]:
    return {"error": {"message": message, "type": kind, "code": None, "param": None}}


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers each request in a thread of its own; says nothing beside what the command does."""

    protocol_version = "HTTP/1.1"
    command_line: Sequence[str] = ()
    word = ""

    def do_GET(self) -> None:
        """The server is there."""
        self._answer(200, {"status": "ok"})

    def do_POST(self) -> None:
        """Start the command."""
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
        path = _PATH.fullmatch(self.path)
        if path is None or not isinstance(body.get("input"), str):
            self._answer(400, _error("a command takes a prompt, by /v1/responses", "invalid_request_error"))
            return
        try:
            ran = run(self.command_line, self.word, body["input"], path[1])
        except (OSError, ValueError) as error:
            message = f"the command cannot be started: {error}"
            self._answer(500, _error(message, "command_failed"), told(self.command_line, self.word))
            return
        ended = {"turnproof-exit-status": str(ran.ended)}
        self._answer(ran.status, ran.body, {**told(self.command_line, self.word), **ended})

    def version_string(self) -> str:
        """Part of the base: who answers, since the command's author never wrote a server."""
        return "turnproof, in front of the command"

    def log_message(self, format: str, *args: object) -> None:
        """Part of the base: nothing of each request is written."""

    def _answer(self, status: int, body: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _why_not(command: str) -> str:
    """Why there is nothing to start."""
    if Path(command).is_file():
        return f"{command}: it is there, and is not executable: chmod +x {shlex.quote(command)}"
    return f"{command}: there is no such command in {Path.cwd()} or on PATH"


def main(arguments: Sequence[str]) -> int:
    """Serve until told to stop; the exit code."""
    port, Handler.word, *Handler.command_line = arguments
    if shutil.which(Handler.command_line[0]) is None:
        sys.stderr.write(f"{_why_not(Handler.command_line[0])}\n")
        return 127
    http.server.ThreadingHTTPServer(("127.0.0.1", int(port)), Handler).serve_forever()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
