"""The environment variables that a target file names: all set, before anything is started."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from harness.target import Target
from harness.target_rules import variables
from harness.target_schema import Problem
from harness.toml_file import read_toml

_HINT = "Set what is missing in the environment that turnproof is started in."


def expect_set(target: Target, environ: Mapping[str, str]) -> None:
    """Raise UsageError naming, with its place in the target file, every variable that is missing or empty.

    An expired or revoked key may lack its own. Nothing is said of a target that no file describes.
    """
    file = Path(target.source)
    if file.is_file():
        document = read_toml(file, _HINT, _HINT)
        document.refuse(_missing(document.data, environ))


def _missing(data: Mapping[str, Any], environ: Mapping[str, str]) -> Iterator[Problem]:
    for path, name in variables(data):
        if not environ.get(name):
            yield Problem(path, f"the environment variable {name} is not set, or is empty")
