"""What stands before a real CLI: it writes down what it was given, as the stand-in does, and becomes the real one."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

from harness.fakes.kilo import configuration
from harness.fakes.kilo.arguments import given
from harness.fakes.kilo.diary import Diary


def main() -> NoReturn:
    """Run with the shim's folder and the CLI's path as the first arguments, and the CLI's own after them."""
    folder, binary, *arguments = sys.argv[1:]
    directory = os.path.abspath(given(arguments, "--dir") or ".")
    Diary(folder, arguments, configuration.files(directory, os.environ))
    os.execv(binary, [binary, *arguments])
