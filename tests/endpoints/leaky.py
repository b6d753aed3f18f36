"""An endpoint that mints keys and tells every secret it knows, in its output and in every answer.

python leaky.py PORT LEAKS. What a test must look for in the artefacts is appended to the file LEAKS.
"""

from __future__ import annotations

import http.server
import json
import os
import secrets
import sys
from pathlib import Path
from typing import Any

OWNER, CANARY = os.environ["OWNER"], os.environ["CANARY"]
LEAKS = Path(sys.argv[2])
KEYS = {CANARY}


def leak(secret: str) -> None:
    """Make a secret known to the test, and write it where turnproof may see it."""
    with LEAKS.open("a", encoding="utf-8") as file:
        file.write(secret + "\n")
    print("it knows", secret, flush=True)  # noqa: T201


class Handler(http.server.BaseHTTPRequestHandler):
    """POST /keys mints; anything else is answered with all secrets, and as it should be where the key is good."""

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self._answer()

    def _answer(self) -> None:
        authorization = self.headers["authorization"] or ""
        if self.path == "/keys":
            KEYS.add(f'sk-{secrets.token_urlsafe(24)}/+"')
            leak(max(KEYS - {CANARY}, key=len))
            return self._send(200, {"key": max(KEYS - {CANARY}, key=len)})
        told = f"{authorization} {OWNER} {' '.join(sorted(KEYS))}"
        if authorization.removeprefix("Bearer ") in KEYS:
            said = [{"index": 0, "message": {"role": "assistant", "content": told}, "finish_reason": "stop"}]
            data = [{"id": "solver", "object": "model", "told": told}]
            return self._send(200, {"object": "list", "data": data} if self.command == "GET" else {"choices": said})
        error = {"message": told, "type": "invalid_request_error", "code": "invalid_api_key", "param": None}
        return self._send(401, {"error": error})

    def _send(self, status: int, body: Any) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("x-told", OWNER)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


if __name__ == "__main__":
    leak(OWNER)
    leak(CANARY)
    print("Running on", sys.argv[1], flush=True)  # noqa: T201
    http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
