"""The canned endpoint, as its users' ones go wrong: `misbehaving.py MODE PORT`, MODE is the name of a function here."""

from __future__ import annotations

import http.server
import os
import signal
import socket
import sys
import time
from typing import NoReturn

from canned import Handler  # type: ignore[import-not-found]

PORT = int(sys.argv[2])


def serve(handler: type[http.server.BaseHTTPRequestHandler] = Handler) -> None:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", PORT), handler)
    print("Running on", server.server_address, flush=True)  # noqa: T201
    server.serve_forever()


def err(data: bytes) -> None:
    os.write(2, data)


def crash() -> None:
    for number in range(100):
        err(f"step {number}\n".encode())
    sys.exit("no database")


def killed() -> None:
    err(b"about to be killed\n")
    os.kill(os.getpid(), signal.SIGKILL)


def never_ready() -> None:
    err(b"waiting for a database\n")
    time.sleep(600)


def deaf() -> None:
    """Take connections and say nothing."""
    listener = socket.create_server(("127.0.0.1", PORT))
    err(b"listening, in a way\n")
    kept = []
    while True:
        kept.append(listener.accept())


def dripping() -> None:
    """Answer a byte at a time, without an end."""
    listener = socket.create_server(("127.0.0.1", PORT))
    err(b"a byte at a time\n")
    while True:
        connection, _ = listener.accept()
        connection.recv(1 << 16)
        try:
            connection.sendall(b"HTTP/1.1 200 OK\r\nx: ")
            while True:
                connection.sendall(b"a")
                time.sleep(0.05)
        except OSError:
            continue


def stubborn() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    serve()


def forking() -> None:
    """Serve from a daemon of another session, leave a second one that nothing ends, and go."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            time.sleep(600)
        os._exit(0)
    os.wait()
    if os.fork() == 0:
        os.setsid()
        serve()
    sys.exit(0)


class Flooding(Handler):  # type: ignore[misc]
    def log_message(self, *_: object) -> None:
        for _ in range(100):
            err(b"y" * 99_999 + b"\n")


def flooding() -> None:
    for _ in range(2000):
        err(b"x" * 99_999 + b"\n")
    serve(Flooding)


class Mortal(Handler):  # type: ignore[misc]
    left = 3

    def do_POST(self) -> None:
        Mortal.left -= 1
        if Mortal.left == 0:
            err(b"out of memory\n")
            os._exit(9)
        super().do_POST()


def mortal() -> None:
    """Die of the third request, answering nothing."""
    serve(Mortal)


class Leaving(Handler):  # type: ignore[misc]
    left = 3

    def do_POST(self) -> None:
        Leaving.left -= 1
        if Leaving.left == 0:
            err(b"out of memory\n")
            self.server.socket.shutdown(socket.SHUT_RDWR)
        super().do_POST()


def leaving() -> None:
    """Take no more connections after the third request, and stay."""
    serve(Leaving)


def usurped() -> None:
    """Let a stranger have the port: tell it by $STRANGER, and do not listen."""
    host, port = os.environ["STRANGER"].split(":")
    with socket.create_connection((host, int(port))) as control:
        control.sendall(f"{PORT}\n".encode())
        control.recv(1)
    err(b"someone has my port\n")
    time.sleep(600)


def unreadable() -> None:
    err(b"\xff\xfe not text \x1b[2J\x1b]0;owned\x07 \x00 \xe2\x80\xae end\n")
    sys.exit(5)


def surviving_child() -> None:
    """Crash, with a child that holds the output and the port open and ignores SIGTERM."""
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.setsid()
        time.sleep(600)
    sys.exit("the parent gave up")


def main() -> NoReturn:
    globals()[sys.argv[1]]()
    sys.exit(0)


if __name__ == "__main__":
    main()
