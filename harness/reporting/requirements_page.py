"""`docs/requirements.md`: every requirement with its source, its checks and its mutants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.requirements import Requirement
from harness.results import Planned

_SOURCES = {
    "O": "the OpenAI API, as its official clients see it",
    "T": "an endpoint of this kind, and its reviews",
    "G": "an agent of this kind that wraps the Kilo CLI",
    "B": "the behaviour of the real binaries, measured",
    "P": "public bug reports of the same kind",
}


def requirements_page(
    suites: Mapping[str, Sequence[Requirement]],
    planned: Mapping[str, Sequence[Planned]],
    mutants: Mapping[str, Sequence[str]],
) -> str:
    """The page as Markdown. `planned` has the checks of each suite, `mutants` the names that catch each requirement."""
    lines = ["# Requirements", "", "Generated from the catalogue by `python -m harness.reporting`.", ""]
    lines += ["| source | what it is |", "| --- | --- |"]
    lines += [f"| {letter} | {meaning} |" for letter, meaning in _SOURCES.items()]
    for suite, requirements in suites.items():
        lines += ["", f"## {suite}"]
        for requirement in requirements:
            lines += _entry(suite, requirement, planned[suite], mutants.get(requirement.id, ()))
    return "\n".join(lines) + "\n"


def _entry(suite: str, requirement: Requirement, planned: Sequence[Planned], mutants: Sequence[str]) -> list[str]:
    checks = [check.check for check in planned if requirement.id in check.requirements]
    functions = dict.fromkeys(_linked(suite, check.partition("[")[0].rpartition("/")[2]) for check in checks)
    need = f", for targets with `{requirement.capability}`" if requirement.capability else ""
    return [
        "",
        f"### {requirement.id}",
        "",
        f"{requirement.level}{need}. {requirement.statement}",
        "",
        f"- sources: {', '.join(requirement.sources)}",
        *(f"- check {function}" for function in functions),
        f"- mutants that it catches: {', '.join(f'`{name}`' for name in mutants) or 'none'}",
    ]


def _linked(suite: str, check: str) -> str:
    file, _, function = check.partition("::")
    return f"[{file}](../suites/{suite}/{file}): `{function}`"
