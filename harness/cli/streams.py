"""The three standard streams of a command, whatever its caller made of them."""

from __future__ import annotations

import os
import sys

_STREAMS = (("stdin", "r"), ("stdout", "w"), ("stderr", "w"))


def open_closed_streams() -> None:
    """Let the standard streams that a caller closed lead nowhere.

    Otherwise the next file that is opened gets the number of one of them, and is written over by whoever uses that.
    """
    for number, (name, mode) in enumerate(_STREAMS):
        try:
            os.fstat(number)
        except OSError:
            nowhere = os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free, and so this one
            os.set_inheritable(nowhere, True)
            stream = os.fdopen(nowhere, mode, encoding="utf-8")
            setattr(sys, name, stream)
            setattr(sys, f"__{name}__", stream)


def let_go_of_output() -> None:
    """Nobody reads the standard output any more: what is still to be written there leads nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
