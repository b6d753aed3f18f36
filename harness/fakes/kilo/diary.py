"""What the stand-in was given, written down: one file `runs/<n>.json` for each run, and `runs/<n>.end.json` at its end.

Both appear whole or not at all. A run that was killed has no end.
"""

from __future__ import annotations

import base64
import json
import os
import select
import stat
import sys
import time
from collections.abc import Iterable, Mapping
from typing import Any


class Diary:
    """The runs of one shim folder, of which this one is `number`."""

    def __init__(self, folder: str, arguments: Iterable[str], files: Iterable[str]) -> None:
        self._folder = os.path.join(folder, "runs")
        os.makedirs(self._folder, exist_ok=True)
        kept = {
            "argv": list(arguments),
            "cwd": os.getcwd(),
            "env": dict(os.environ),
            "stdin": stdin_state(),
            "files": [_file(path) for path in files],
            "pid": os.getpid(),
            "began": time.time(),
        }
        self.number = self._claim(kept)

    def end(self, status: int) -> None:
        """Write down how the run ended."""
        self._write(f"{self.number}.end.json", {"status": status, "ended": time.time()}, os.replace)

    def _claim(self, kept: Mapping[str, Any]) -> int:
        """Write the run under the first number that is free: two shims may start at once."""
        number = 1 + sum(name.removesuffix(".json").isdigit() for name in os.listdir(self._folder))
        while True:
            try:
                self._write(f"{number}.json", kept, os.link)
            except FileExistsError:
                number += 1
            else:
                return number

    def _write(self, name: str, value: Any, publish: Any) -> None:
        scratch = os.path.join(self._folder, f".{os.getpid()}")
        with open(scratch, "w", encoding="utf-8", errors="surrogateescape") as file:
            json.dump(value, file, ensure_ascii=True)
        try:
            publish(scratch, os.path.join(self._folder, name))
        finally:
            if os.path.exists(scratch):
                os.unlink(scratch)


def stdin_state() -> str:
    """What standard input is: `closed`, `null`, `terminal`, `file`; or a pipe that is `open`, `ended` or has `data`."""
    try:
        mode = os.fstat(0).st_mode
    except OSError:
        return "closed"
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISCHR(mode):
        return "terminal" if sys.stdin is not None and os.isatty(0) else "null"
    poll = select.poll()
    poll.register(0, select.POLLIN | select.POLLHUP)
    events = dict(poll.poll(0)).get(0, 0)
    if events & select.POLLIN:
        return "data"
    return "ended" if events else "open"


def _file(path: str) -> dict[str, Any]:
    with open(path, "rb") as file:
        data = file.read()
        mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
    return {"path": path, "mode": mode, "base64": base64.b64encode(data).decode("ascii")}
