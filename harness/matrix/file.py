"""From a matrix file to a matrix. Schema: `fixtures/schemas/matrix.schema.json`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.matrix.plan import BEFORE, SECONDS, TARGETS, Comparison, Matrix
from harness.target_schema import Problem, matrix_problems
from harness.toml_file import read_toml

_HINT = "turnproof docs releases describes every key of a matrix file."


def load_matrix(path: Path) -> Matrix:
    """The matrix that the file at `path` describes.

    Raises UsageError with every problem of the file, one a line, as `file:line: key: what is wrong`.
    """
    document = read_toml(path, "Name a matrix file.", _HINT)
    document.refuse(matrix_problems(document.data))
    document.refuse(_problems(document.data))
    return Matrix(
        document.data["name"],
        tuple(_comparison(entry, path.parent) for entry in document.data["compare"]),
        float(document.data.get("within", SECONDS)),
    )


def _comparison(data: dict[str, Any], folder: Path) -> Comparison:
    target = data.get("target")
    if target is not None and (folder / target).is_file():
        target = str(folder / target)
    options = {name: data[name] for name in ("checks", "strict", "require_all") if name in data}
    return Comparison(data["binary"], data["suite"], tuple(data["versions"]), target, **options)


def _problems(data: dict[str, Any]) -> Iterator[Problem]:
    """What is wrong with a file that keeps the schema."""
    for index, entry in enumerate(data["compare"]):
        binary, suite = entry["binary"], entry["suite"]
        if (binary, suite) not in TARGETS:
            fit = ", ".join(known for of, known in TARGETS if of == binary)
            yield Problem(("compare", index, "suite"), f"{suite} does not judge {binary}: name one of {fit}")
        if "target" in entry and suite != BEFORE:
            yield Problem(
                ("compare", index, "target"), f"is for {BEFORE} only: {suite} judges {binary} itself, or ours"
            )
    cells = Counter(_cell(entry, version) for entry in data["compare"] for version in entry["versions"])
    for index, entry in enumerate(data["compare"]):
        for at, version in enumerate(entry["versions"]):
            if cells[_cell(entry, version)] > 1:
                told = f"{version} is judged by {entry['suite']} twice: keep one"
                yield Problem(("compare", index, "versions", at), told)


def _cell(entry: dict[str, Any], version: str) -> tuple[str, ...]:
    return entry["binary"], entry["suite"], entry.get("target", ""), version
