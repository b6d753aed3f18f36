"""Agents that do nothing: `nothing_agent.py MODE PORT`. What it answers is MODE: `empty`, `500`, `400` or `echo`."""

from __future__ import annotations

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MODE, PORT = sys.argv[1], int(sys.argv[2])
ANSWERS = {
    "empty": (200, b""),
    "500": (500, b'{"error": {"message": "no", "type": "server_error", "param": null, "code": null}}'),
    "400": (400, b'{"error": {"message": "no", "type": "invalid_request_error", "param": null, "code": null}}'),
}


class Nothing(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self._answer(200, b"{}")

    def do_POST(self) -> None:
        asked = self.rfile.read(int(self.headers.get("content-length", 0)))
        self._answer(*ANSWERS.get(MODE, (200, asked)))

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


ThreadingHTTPServer(("127.0.0.1", PORT), Nothing).serve_forever()
