"""A started process that cannot outlive us, nor can anything that it starts.

Each has a supervisor of its own (`harness.supervisor`), so what a target leaves behind is attributable to it.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from harness import supervisor
from harness.errors import HarnessError
from harness.output import Output

SCRIPT = Path(supervisor.__file__)
_START_SECONDS = 60.0
_KILL_SECONDS = 10.0
# The most that an unprivileged process can make a pipe hold.
_PIPE_BYTES = 1 << 20


class StartFailed(OSError):
    """The command could not be started; `errno`, `strerror` and `filename` (command or folder) say why."""

    @property
    def reason(self) -> str:
        """What was wrong, for people."""
        program = self.errno == errno.EACCES and not Path(self.filename).is_dir()
        return f"{self.filename}: {self.strerror}{' (chmod +x makes a program executable)' if program else ''}"


@dataclass(frozen=True)
class Leftover:
    """A process that was still there when the grace was over, and was killed."""

    pid: int
    name: str


class Supervised:
    """A running command with its descendants, made by `Supervised.start`; usable from several threads."""

    def __init__(self, name: str, launcher: subprocess.Popen[bytes], pipes: tuple[int, int, int]) -> None:
        self.name = name
        self.output = Output()
        self.contained = False
        self._launcher = launcher
        self._control, self._status, self._stream = pipes
        self._changed = threading.Condition()
        self._pid: int | None = None
        self._failure: dict[str, Any] | None = None
        self._exit: int | None = None
        self._killed: tuple[Leftover, ...] = ()
        self._ended = False
        self._over = False
        self._follower = threading.Thread(target=self._follow, name=f"follow {name}", daemon=True)

    @classmethod
    def start(
        cls,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: Path,
        name: str,
        ready_line: re.Pattern[str] | None = None,
        stdin: Path | None = None,
        stdout: Path | None = None,
        file_bytes: int | None = None,
    ) -> Self:
        """Start a command, looked up on the PATH of `env`, with the file `stdin`, or nothing, on its standard input.

        `ready_line` is looked for from the first byte on, so that no flood can hide it from `wait_for_line`.
        `stdout` names a file that takes the standard output whole; `output` is then the standard error alone.
        `file_bytes` is how large each file may become that the command writes, that one included: beyond, it is ended
        by SIGXFSZ.
        Raises `StartFailed` when the command or the folder is not usable.
        """
        process = cls(name, *_launch(name, stdin, stdout))
        if ready_line is not None:
            process.output.watch(ready_line)
        process._follower.start()
        try:
            process._order({"argv": list(argv), "env": dict(env), "cwd": os.fspath(cwd), "file_bytes": file_bytes})
        except BaseException:
            process._hang_up()
            process._follower.join(_KILL_SECONDS)
            raise
        return process

    @property
    def pid(self) -> int:
        """The pid of the command itself."""
        assert self._pid is not None
        return self._pid

    def poll(self) -> int | None:
        """Return the exit status, the negative signal number for a signal, or None while it runs."""
        return self._exit

    def wait(self, timeout: float | None = None) -> int | None:
        """Return the exit status of the command, or None if it still runs after `timeout` seconds."""
        with self._changed:
            self._changed.wait_for(lambda: self._exit is not None, timeout)
            return self._exit

    def wait_for_line(self, pattern: re.Pattern[str], deadline: float) -> str | None:
        """Return the first line of output in which the pattern is found, also one that came before.

        None when `deadline` (of `time.monotonic`) passed, when nothing is left that could write it, or when
        the command failed. A launcher that exited with 0 and left a server behind is waited for.
        """
        self.output.watch(pattern)
        with self._changed:
            self._changed.wait_for(
                lambda: self.output.found(pattern) is not None or self._over or bool(self._exit),
                max(0.0, deadline - time.monotonic()),
            )
        return self.output.found(pattern)

    def descendants(self) -> tuple[int, ...]:
        """Return the living processes of the command: itself, and all that came from it, zombies left out.

        Where `contained` is false only the command itself can be seen.
        """
        with self._changed:
            if self._over:
                return ()
            if not self.contained:
                return (self.pid,) if self._exit is None else ()
            return supervisor.living_under({self._launcher.pid}, supervisor.process_table())

    def stop(self, grace: float = 2.0) -> tuple[Leftover, ...]:
        """End everything: SIGTERM, after `grace` seconds SIGKILL; return what had to be killed.

        Returns once nothing is left; on something already stopped it returns the same again. Raises
        `HarnessError` when something cannot be ended.
        """
        with self._changed:
            if self._control != -1:
                _send(self._control, f"{grace}\n".encode())
            self._changed.wait_for(lambda: self._over, grace + _KILL_SECONDS)
            over = self._over
        if not over:
            pids = ", ".join(map(str, self.descendants()))
            raise HarnessError(
                f"{self.name} could not be ended; still running: {pids}",
                "Look at these processes: something keeps them from being killed. End them by hand.",
            )
        self._follower.join()
        return self._killed

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _order(self, order: dict[str, object]) -> None:
        _send(self._control, json.dumps(order).encode() + b"\n")
        with self._changed:
            self._changed.wait_for(lambda: self._pid or self._failure or self._over, _START_SECONDS)
            failure, pid = self._failure, self._pid
        if failure is not None:
            raise StartFailed(failure["errno"], failure["strerror"], failure["filename"])
        if pid is None:
            raise HarnessError(
                f"the supervisor of {self.name} did not start: {self.output.text().strip() or 'no message'}",
                f"Check that {sys.executable} runs and that this machine has processes and memory to spare.",
            )

    def _hang_up(self) -> None:
        with self._changed:
            if self._control != -1:
                os.close(self._control)
                self._control = -1

    def _follow(self) -> None:
        """Take in output and status until the supervisor is gone.

        Whatever came out before a status message is taken in before that message, so that who learns of an
        exit has the output that led to it.
        """
        poll = select.poll()
        poll.register(self._status, select.POLLIN)
        poll.register(self._stream, select.POLLIN)
        unread = b""
        while True:
            ready = [descriptor for descriptor, _ in poll.poll()]
            if not self._drain():
                with contextlib.suppress(KeyError):
                    poll.unregister(self._stream)
            if self._status in ready:
                news = os.read(self._status, 1 << 16)
                if not news:
                    break
                *lines, unread = (unread + news).split(b"\n")
                for line in lines:
                    self._note(json.loads(line))
        self._finish()

    def _drain(self) -> bool:
        """Take in what the output pipe holds; return whether more can come."""
        taken = 0
        more = True
        while more and taken < _PIPE_BYTES:
            try:
                data = os.read(self._stream, 1 << 16)
            except BlockingIOError:
                break
            more = bool(data)
            taken += len(data)
            self.output.feed(data)
            with self._changed:
                self._changed.notify_all()
        return more

    def _note(self, news: dict[str, Any]) -> None:
        with self._changed:
            self._pid = news.get("pid", self._pid)
            self._failure = news.get("failed", self._failure)
            self.contained = news.get("contained", self.contained)
            self._exit = news.get("exit", self._exit)
            if "ended" in news:
                self._ended = True
                self._killed = tuple(Leftover(*one) for one in news["ended"])
            self._changed.notify_all()

    def _finish(self) -> None:
        if self._pid is not None and not self._ended:
            _end_session(self._pid)
        self._launcher.wait()
        self._drain()
        self._hang_up()
        os.close(self._status)
        os.close(self._stream)
        self.output.close()
        with self._changed:
            if self._pid is not None and self._exit is None:
                self._exit = -signal.SIGKILL
            self._over = True
            self._changed.notify_all()


def own_process_dies_with_parent() -> None:
    """Have this process killed when the one that started it ends (Linux; does nothing elsewhere).

    For workers of a parallel run, whose control pipes then close too. The kernel watches the thread that
    started this process, so the parent must have done it from a thread that stays.
    """
    supervisor.die_with(os.getppid())


def _launch(name: str, stdin: Path | None, stdout: Path | None) -> tuple[subprocess.Popen[bytes], tuple[int, int, int]]:
    """Start a supervisor; return it with our ends of its control, status and output pipes."""
    with contextlib.ExitStack() as theirs, contextlib.ExitStack() as ours:
        control_read, control = os.pipe()
        status, status_write = os.pipe()
        stream, stream_write = os.pipe()
        for descriptor in (control_read, status_write, stream_write):
            theirs.callback(os.close, descriptor)
        for descriptor in (control, status, stream):
            ours.callback(os.close, descriptor)
        os.set_blocking(stream, False)
        given = theirs.enter_context(stdin.open("rb")) if stdin is not None else subprocess.DEVNULL
        file = theirs.enter_context(stdout.open("wb")) if stdout is not None else stream_write
        launcher = subprocess.Popen(
            [sys.executable, "-I", "-S", str(SCRIPT), str(control_read), str(status_write), name],
            stdin=given,
            stdout=file,
            stderr=stream_write,
            pass_fds=(control_read, status_write),
            start_new_session=True,
        )
        ours.pop_all()
    return launcher, (control, status, stream)


def _send(control: int, text: bytes) -> None:
    """Write to the supervisor; one that is gone is noticed on the status pipe."""
    with contextlib.suppress(BrokenPipeError), open(control, "wb", closefd=False) as file:
        file.write(text)


def _end_session(session: int) -> None:
    """Kill what a supervisor left that was itself killed: the command's session and all that is under it."""
    if sys.platform != "linux":
        with contextlib.suppress(ProcessLookupError):
            os.killpg(session, signal.SIGKILL)
        return
    deadline = time.monotonic() + _KILL_SECONDS
    while time.monotonic() < deadline:
        table = supervisor.process_table()
        members = {pid for pid, (_, own, state, _) in table.items() if own == session and state not in "ZX"}
        living = members.union(supervisor.living_under(members, table))
        if not living:
            return
        for pid in living:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
