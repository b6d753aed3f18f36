"""What is wrong with the waivers of a target file: of each in one line, for a draft lacks several things at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from harness.target_schema import Problem, shown_path


def one_for_each_waiver(problems: Iterable[Problem]) -> set[Problem]:
    """The problems, with all those of a waiver as one."""
    together: dict[object, list[Problem]] = {}
    for problem in sorted(problems, key=str):
        waiver = problem.path[:2] if problem.path[:1] == ("waivers",) else problem
        together.setdefault(waiver, []).append(problem)
    return {found[0] if len(found) == 1 else _one(found) for found in together.values()}


def _one(problems: Sequence[Problem]) -> Problem:
    keys: dict[str, list[str]] = {}
    for problem in problems:
        keys.setdefault(problem.message, []).append(shown_path(problem.path[2:]))
    said = (f"{', '.join(names)}: {message}".removeprefix(": ") for message, names in keys.items())
    return Problem(problems[0].path[:2], "; ".join(said))
