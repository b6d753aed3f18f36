"""When a target counts as up: an answer, or a line of its output, of the process that we started."""

from __future__ import annotations

import re
import signal
import time
from urllib.parse import urlsplit

import httpx

from harness.bounded import status_of
from harness.errors import TargetNotReady
from harness.listener import listens
from harness.supervised import Supervised
from harness.target import Ready

_POLL_SECONDS = 0.05
_STEP = "it is ready"

PORTLESS = "[start] holds no {port}: let the target listen on that port, not on one of its own"
"""What to do about a started target that does not answer where it was not told to."""


def await_ready(ready: Ready, url: str, process: Supervised | None, told_port: bool = True) -> None:
    """Return once the target at `url` is up as `ready` describes it, and the answer is that of `process`.

    `told_port` is whether the process was told on which port it is waited for.
    Raises TargetNotReady when that takes too long, when the process ends, or when a stranger's process answers.
    """
    deadline = time.monotonic() + ready.within
    if ready.log is not None and process is not None:
        line = process.wait_for_line(re.compile(ready.log), deadline)
        if line is None:
            raise _not_ready(
                process, told_port, f"no line of its output matched {ready.log!r} within {ready.within:g} s"
            )
    if ready.path is None:
        return
    while True:
        came = _probe(url + ready.path, deadline)
        if isinstance(came, int) and (came == ready.status if ready.status else came < 500):
            break
        if time.monotonic() > deadline or (process is not None and is_over(process)):
            raise _not_ready(process, told_port, f"{url}{ready.path} {_told(came, ready)}")
        time.sleep(_POLL_SECONDS)
    if process is not None and listens(process.descendants(), urlsplit(url).port or 0) is False:
        hint = "end the process that has the port, or let the target use {port}"
        raise TargetNotReady(_STEP, f"the answer at {url} comes from a process that is not the target's", hint)


def _probe(url: str, deadline: float) -> int | str:
    """The status that `url` answers with, or what went wrong."""
    try:
        return status_of(url, max(0.1, deadline - time.monotonic()))
    except httpx.HTTPError as error:
        return str(error) or type(error).__name__


def _told(came: int | str, ready: Ready) -> str:
    if isinstance(came, str):
        return f"did not answer within {ready.within:g} s: {came}"
    return f"answered {came} for {ready.within:g} s, where {ready.status or 'a status below 500'} was wanted"


def is_over(process: Supervised) -> bool:
    """Whether nothing of it can still come up: a launcher may end well and leave a server behind."""
    return process.poll() is not None and (process.poll() != 0 or not process.descendants())


def told_end(status: int) -> str:
    """How a process ended, for people: with what exit status, or by which signal."""
    if status >= 0:
        return f"it ended with status {status}"
    try:
        return f"it was killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"it was killed by signal {-status}"


def _not_ready(process: Supervised | None, told_port: bool, message: str) -> TargetNotReady:
    if process is None:
        return TargetNotReady(_STEP, message, "check url and [ready], and whether the target is up")
    if (status := process.poll()) is not None and is_over(process):
        return TargetNotReady(_STEP, f"{told_end(status)} before it was ready", "see its output")
    if not told_port:
        return TargetNotReady(_STEP, message, PORTLESS)
    return TargetNotReady(_STEP, message, "check [start], [ready] and the target's output")
