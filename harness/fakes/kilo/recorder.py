"""What stands before a real CLI: it writes down what it was given, as the stand-in does, and becomes the real one."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from harness.fakes.kilo import configuration
from harness.fakes.kilo.diary import Diary


def main() -> NoReturn:
    """Run with the shim's folder and the CLI's path as the first arguments, and the CLI's own after them."""
    folder, binary, *arguments = sys.argv[1:]
    directory = os.path.abspath(_folder_of(arguments) or ".")
    Diary(folder, arguments, configuration.files(directory, os.environ))
    os.execv(binary, [binary, *arguments])


def _folder_of(arguments: Sequence[str]) -> str:
    """The value of `--dir`, whatever other options the CLI's version has; empty when it is not given."""
    before = arguments[: arguments.index("--")] if "--" in arguments else arguments
    for word, following in zip(before, [*before[1:], ""], strict=True):
        name, has_value, value = word.partition("=")
        if name == "--dir":
            return value if has_value else following
    return ""
