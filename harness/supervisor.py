"""The process that stands between turnproof and one command that it starts.

Run as a script by `harness.supervised`, with the standard library only so that it is up in some 20 ms. It is
a subreaper, so whatever the command leaves behind (other groups, other sessions, daemons) becomes its child,
and it ends all of that as soon as its control pipe closes, which the kernel does for a holder killed by
`kill -9` too. Elsewhere than on Linux it knows the command's process group only, and says so.

Control pipe, lines from the holder: first the command as JSON (`argv`, `env`, `cwd`, and `file_bytes`, the size
that its files may have), then at most stop orders, each the number of seconds to wait between SIGTERM and
SIGKILL. Status pipe, JSON lines to the holder: `pid` and `contained`, or `failed`; `exit` when the command ends;
`ended`, when nothing is left, with what had to be killed.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import resource
import select
import signal
import sys
import time

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_KILL_INTERVAL = 0.01
_GROUP_INTERVAL = 0.2
_IDLE_INTERVAL = 60.0
_FOREVER = float("inf")

# pid -> (parent, session, state, name)
ProcessTable = dict[int, tuple[int, int, str, str]]


def process_table() -> ProcessTable:
    """Return every process that /proc shows, zombies included."""
    table: ProcessTable = {}
    for entry in os.listdir("/proc"):  # noqa: PTH208 - pathlib costs a third of the start
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat", "rb") as file:  # noqa: PTH123
                stat = file.read()
        except OSError:
            continue
        head, _, tail = stat.rpartition(b")")
        state, parent, _group, session = tail.split()[:4]
        name = head.partition(b"(")[2].decode(errors="replace")
        table[int(entry)] = (int(parent), int(session), state.decode(), name)
    return table


def living_under(roots: set[int], table: ProcessTable) -> tuple[int, ...]:
    """Return the pids of the descendants of `roots` that are not zombies, without the roots themselves."""
    children: dict[int, list[int]] = {}
    for pid, (parent, *_) in table.items():
        children.setdefault(parent, []).append(pid)
    found: list[int] = []
    waiting = list(roots)
    while waiting:
        below = [pid for pid in children.get(waiting.pop(), ()) if pid not in roots]
        found += below
        waiting += below
    return tuple(sorted(pid for pid in found if table[pid][2] not in "ZX"))


def die_with(parent: int) -> None:
    """Have the kernel SIGKILL this process when the thread that started it ends (on Linux)."""
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


def become_subreaper() -> bool:
    """Return whether orphaned descendants now become children of this process."""
    if sys.platform != "linux" or not os.path.exists("/proc/self/stat"):  # noqa: PTH110
        return False
    return int(ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)) == 0


class _Command:
    """The started command and all that came from it."""

    def __init__(self, pid: int, contained: bool, status: int) -> None:
        self.look_interval = _IDLE_INTERVAL if contained else _GROUP_INTERVAL
        self._pid = pid
        self._contained = contained
        self._status = status

    def left(self) -> bool:
        """Reap what has ended; return whether anything is left.

        Having no child is the proof of being done: an orphan would be our child, while a look into /proc can
        miss a process that forks during the look.
        """
        try:
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return True
                if pid == self._pid:
                    tell(self._status, {"exit": os.waitstatus_to_exitcode(status)})
        except ChildProcessError:
            return not self._contained and self._signal_group(0)

    def send(self, number: int) -> list[tuple[int, str]]:
        """Signal everything; return the pids and names of what was there."""
        if not self._contained:
            return [(self._pid, "group")] if self._signal_group(number) else []
        table = process_table()
        pids = living_under({os.getpid()}, table)
        for pid in pids:
            try:
                os.kill(pid, number)
            except (ProcessLookupError, PermissionError):
                continue
        return [(pid, table[pid][3]) for pid in pids]

    def _signal_group(self, number: int) -> bool:
        try:
            os.killpg(self._pid, number)
        except (ProcessLookupError, PermissionError):
            return False
        return True


def tell(status: int, message: dict[str, object]) -> None:
    """Write one status line; a holder that is gone is noticed on the control pipe."""
    try:
        os.write(status, json.dumps(message).encode() + b"\n")
    except OSError:
        return


def read_order(control: int) -> tuple[list[str], dict[str, str], str, int | None] | None:
    """Return argv, environment, folder and the size of a file, or None when the holder went away before that."""
    text = b""
    while not text.endswith(b"\n"):
        piece = os.read(control, 1 << 16)
        if not piece:
            return None
        text += piece
    order = json.loads(text)
    return order["argv"], order["env"], order["cwd"], order["file_bytes"]


def start(
    argv: list[str], env: dict[str, str], cwd: str, file_bytes: int | None
) -> tuple[int, dict[str, object] | None]:
    """Return the pid of the started command, and why it could not be started."""
    read_end, write_end = os.pipe()
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        try:
            tell(write_end, _execute(argv, env, cwd, file_bytes, parent))
        finally:
            os._exit(127)
    os.close(write_end)
    with os.fdopen(read_end, "rb") as file:
        failure = file.read()
    return pid, json.loads(failure) if failure else None


def _execute(argv: list[str], env: dict[str, str], cwd: str, file_bytes: int | None, parent: int) -> dict[str, object]:
    """Become the command; return only if that failed, with the reason."""
    concerned = cwd
    try:
        os.setsid()
        die_with(parent)
        for ignored_by_python in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(ignored_by_python, signal.SIG_DFL)
        if file_bytes is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes))
        os.chdir(cwd)
        concerned = argv[0]
        os.execvpe(argv[0], argv, env)
    except OSError as error:
        return {"errno": error.errno, "strerror": error.strerror, "filename": concerned}
    except ValueError as error:
        return {"errno": errno.EINVAL, "strerror": str(error), "filename": concerned}


def supervise(command: _Command, control: int, wake: int) -> list[tuple[int, str]]:
    """Return when nothing of the command is left: the pids and names of what had to be killed."""
    killed: list[tuple[int, str]] = []
    kill_at = _FOREVER
    poll = select.poll()
    poll.register(control, select.POLLIN)
    poll.register(wake, select.POLLIN)
    while command.left():
        if time.monotonic() >= kill_at:
            sent = command.send(signal.SIGKILL)
            killed = killed or sent
        for descriptor, _ in poll.poll(1000 * _patience(kill_at, command.look_interval)):
            text = os.read(descriptor, 4096)
            if descriptor == wake:
                if set(text) & {signal.SIGTERM, signal.SIGINT, signal.SIGHUP}:
                    kill_at = 0.0
            elif text:
                command.send(signal.SIGTERM)
                kill_at = min([kill_at, *(time.monotonic() + float(grace) for grace in text.split())])
            else:
                poll.unregister(control)
                kill_at = 0.0
    return killed


def _patience(kill_at: float, look_interval: float) -> float:
    """Return the seconds until a look is due, also without a message or a signal."""
    rest = kill_at - time.monotonic()
    return _KILL_INTERVAL if rest <= 0 else min(rest, look_interval)


def _catch_signals() -> int:
    """Return the descriptor on which the numbers of arriving signals can be read."""
    wake, write_end = os.pipe()
    os.set_blocking(write_end, False)
    signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: None)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    return wake


def main(control: int, status: int) -> None:
    """Start the command that the control pipe names, and stay until nothing of it is left."""
    for descriptor in (control, status):
        os.set_inheritable(descriptor, False)
    wake = _catch_signals()
    contained = become_subreaper()
    order = read_order(control)
    if order is None:
        return
    pid, failure = start(*order)
    # The output ends when the command's processes end, not when this one does.
    os.dup2(0, 1)
    os.dup2(0, 2)
    if failure is not None:
        os.waitpid(pid, 0)
        tell(status, {"failed": failure})
        return
    tell(status, {"pid": pid, "contained": contained})
    killed = supervise(_Command(pid, contained, status), control, wake)
    tell(status, {"ended": killed})


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
