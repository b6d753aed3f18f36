"""An endpoint on the standard library that asks nobody, which says `ok` to every prompt.

python canned.py PORT. It accepts the key $ENDPOINT_KEY, and takes $DELAY seconds for each answer. With $SAYS `echo` it
says the prompt, with `words` every random word that it was ever sent.
"""

from __future__ import annotations

import http.server
import json
import os
import re
import sys
import time
from typing import Any

KEY = os.environ.get("ENDPOINT_KEY")
DELAY = float(os.environ.get("DELAY", "0"))
SAYS = os.environ.get("SAYS", "ok")
WORDS: list[str] = []


def refusal(status: int, message: str, code: str | None, param: str | None = None) -> tuple[int, Any]:
    error = {"message": message, "type": "invalid_request_error", "code": code, "param": param}
    return status, {"error": error}


def frame(kind: str, **choice: Any) -> dict[str, Any]:
    choices = [{"index": 0, "finish_reason": "stop", **choice}]
    return {"id": "chatcmpl-1", "object": kind, "created": 1, "model": "solver", "choices": choices}


def said(prompt: str) -> str:
    WORDS.extend(re.findall("tp[a-p]{20}", prompt))
    return {"echo": prompt, "words": " ".join(WORDS)}.get(SAYS, "ok")


def answer(authorization: str | None, body: dict[str, Any] | None) -> tuple[int, Any]:
    """Status and JSON body, or the text of an event stream."""
    if authorization != f"Bearer {KEY}":
        return refusal(401, "no such key", "invalid_api_key")
    if body is None:
        listed = [{"id": "solver", "object": "model", "created": 0, "owned_by": "house"}]
        return 200, {"object": "list", "data": listed}
    if body["model"] != "solver":
        return refusal(404, "no such model", "model_not_found")
    if not isinstance(body.get("stream"), bool | None):
        return refusal(400, "stream must be a boolean", None, "stream")
    message = {"role": "assistant", "content": said(str(body["messages"][-1]["content"]))}
    if not body.get("stream"):
        return 200, frame("chat.completion", message=message)
    return 200, f"data: {json.dumps(frame('chat.completion.chunk', delta=message))}\n\ndata: [DONE]\n\n"


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers GET as the list of models, POST as a completion."""

    def do_GET(self) -> None:
        self._answer(None)

    def do_POST(self) -> None:
        self._answer(json.loads(self.rfile.read(int(self.headers["content-length"]))))

    def _answer(self, body: dict[str, Any] | None) -> None:
        time.sleep(DELAY)
        status, said = answer(self.headers["authorization"], body)
        data = said.encode() if isinstance(said, str) else json.dumps(said).encode()
        self.send_response(status)
        self.send_header("content-type", "text/event-stream" if isinstance(said, str) else "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


if __name__ == "__main__":
    server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
    print("Running on", server.server_address, flush=True)  # noqa: T201
    server.serve_forever()
