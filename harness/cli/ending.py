"""How a command ends: with its exit code, and an error in words."""

from __future__ import annotations

import contextlib
import functools
import sys
import traceback
from collections.abc import Callable
from typing import Any

import click
from rich.console import Console
from rich.markup import escape

from harness.cli.streams import let_go_of_output, open_closed_streams
from harness.errors import HarnessError, TargetNotReady, TurnproofError
from harness.evidence.refusal import Refused
from harness.interrupts import terminable
from harness.reporting.visible import last_lines, visible

ERR = Console(stderr=True, highlight=False)
"""Where people are told things; the standard output is for results."""

UNREAD = 141
"""The exit code where whoever read the standard output left before its end, as a shell tells it of other programs."""


def reporting_errors(command: Callable[..., int]) -> Callable[..., None]:
    """Turn a command's result or error into its exit code, and an error into words.

    An error that nobody foresaw is one of turnproof: no such exit code can be taken for a verdict.
    """

    @functools.wraps(command)
    def wrapped(*args: Any, **kwargs: Any) -> None:
        open_closed_streams()
        try:
            with terminable():
                code = command(*args, **kwargs)
        except (click.ClickException, click.Abort, click.exceptions.Exit):
            raise
        except (KeyboardInterrupt, SystemExit, Exception) as error:  # noqa: BLE001 - whatever it is, it is no verdict
            code = _code_of(error)
            with contextlib.suppress(OSError):  # where nobody can be told, the exit code still says it
                _tell(error)
        sys.exit(code)

    return wrapped


def _code_of(error: BaseException) -> int:
    match error:
        case TurnproofError():
            return error.exit_code
        case KeyboardInterrupt():
            return 130
        case BrokenPipeError() | SystemExit():  # the latter is how rich says the former
            return UNREAD
    return HarnessError.exit_code


def _tell(error: BaseException) -> None:
    match error:
        case TurnproofError():
            show_error(error)
        case KeyboardInterrupt():
            ERR.print("[red]interrupted[/]")
        case BrokenPipeError() | SystemExit():
            let_go_of_output()
        case _:
            ERR.print(escape(visible("".join(traceback.format_exception(error)))), soft_wrap=True)
            show_error(HarnessError("an error that nobody foresaw, above"))


def show_error(error: TurnproofError) -> None:
    """Say whose fault an error is, what happened, and what to do next."""
    whose = {2: "usage", 3: "target not ready"}.get(error.exit_code, "turnproof failed")
    whose = f"refused, {error.reason}" if isinstance(error, Refused) else whose
    step = f" ({error.step})" if isinstance(error, TargetNotReady) else ""
    ERR.print(f"[red]{whose}{escape(step)}:[/] {escape(visible(error.message))}", soft_wrap=True)
    if error.hint:
        ERR.print(f"  {escape(visible(error.hint))}", soft_wrap=True)
    if isinstance(error, TargetNotReady) and error.log.strip():
        ERR.print("  the end of what it wrote:")
        for line in last_lines(error.log):
            ERR.print(f"  | {escape(line)}", soft_wrap=True)
