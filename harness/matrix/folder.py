"""The folder of a matrix: for each cell a folder with what came back of it, written whole or not at all."""

from __future__ import annotations

import json
import shutil
import tempfile
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from harness.errors import UsageError
from harness.matrix.child import Returned
from harness.matrix.plan import Task
from harness.results import RESULTS

CELL = "cell.json"
"""What a cell's folder tells of it besides its results: how it was run, and how that ended."""

CELLS = "cells"
"""The folder in that of the matrix which holds those of its cells."""


def prepare(out: Path) -> None:
    """Make the folder of a matrix; raises UsageError when that cannot be done."""
    try:
        (out / CELLS).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unusable(out, error) from error


def keep(out: Path, task: Task, returned: Returned) -> None:
    """Put what came back of a cell in its place; raises UsageError when that cannot be done."""
    place = out / CELLS / task.folder
    try:
        fresh = Path(tempfile.mkdtemp(prefix=".cell-", dir=place.parent))
        (fresh / RESULTS).write_bytes(returned.results)
        record = {**asdict(replace(returned, results=b"")), "arguments": list(task.arguments), "binary": task.binary}
        del record["results"]
        (fresh / CELL).write_text(json.dumps(record, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
        fresh.chmod(0o755)
        if place.exists():
            shutil.rmtree(place)
        fresh.rename(place)
    except OSError as error:
        raise _unusable(place, error) from error


def kept(out: Path, task: Task) -> Returned | None:
    """What is kept of a cell; None when there is nothing, or when it was run in another way."""
    place = out / CELLS / task.folder
    try:
        record: dict[str, Any] = json.loads((place / CELL).read_text(encoding="utf-8"))
        if (record.pop("arguments"), record.pop("binary")) != (list(task.arguments), task.binary):
            return None
        return Returned(results=(place / RESULTS).read_bytes(), **record)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def _unusable(path: Path, error: OSError) -> UsageError:
    return UsageError(f"{path}: cannot be written: {error.strerror}", "choose another folder with --out")
