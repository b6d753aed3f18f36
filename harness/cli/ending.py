"""How a command ends: with its exit code, and an error in words."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.markup import escape

from harness.errors import TargetNotReady, TurnproofError
from harness.evidence.refusal import Refused
from harness.interrupts import terminable
from harness.reporting.visible import shortened, visible

ERR = Console(stderr=True, highlight=False)
"""Where people are told things; the standard output is for results."""


def reporting_errors(command: Callable[..., int]) -> Callable[..., None]:
    """Turn a command's result or error into its exit code, and an error into words."""

    @functools.wraps(command)
    def wrapped(*args: Any, **kwargs: Any) -> None:
        try:
            with terminable():
                sys.exit(command(*args, **kwargs))
        except TurnproofError as error:
            show_error(error)
            sys.exit(error.exit_code)
        except KeyboardInterrupt:
            ERR.print("[red]interrupted[/]")
            sys.exit(130)

    return wrapped


def show_error(error: TurnproofError) -> None:
    """Say whose fault an error is, what happened, and what to do next."""
    whose = {2: "usage", 3: "target not ready"}.get(error.exit_code, "turnproof failed")
    whose = f"refused, {error.reason}" if isinstance(error, Refused) else whose
    step = f" ({error.step})" if isinstance(error, TargetNotReady) else ""
    ERR.print(f"[red]{whose}{escape(step)}:[/] {escape(visible(error.message))}", soft_wrap=True)
    if error.hint:
        ERR.print(f"  {escape(error.hint)}", soft_wrap=True)
    if isinstance(error, TargetNotReady) and error.log.strip():
        ERR.print("  the end of what it wrote:")
        for line in error.log.strip().splitlines()[-15:]:
            ERR.print(f"  | {escape(shortened(visible(line), 500))}", soft_wrap=True)
