"""What in a target file belongs to some kinds of target alone, as the schema says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.errors import UsageError
from harness.fakes.model.faces import face_named
from harness.kinds import KINDS
from harness.target_schema import Problem, target_schema


def kind_problems(data: Mapping[str, Any]) -> Iterator[Problem]:
    """What belongs to another kind of target than the file's, what its kind lacks, and an `upstream` there is not."""
    kind = data.get("kind")
    if kind in {known.name for known in KINDS}:
        properties = target_schema()["properties"]
        policies = target_schema()["$defs"]["policies"]["properties"]
        yield from _foreign((), data, properties, kind)
        yield from _missing(data, properties, kind)
        yield from _foreign(("policies",), data.get("policies"), policies, kind)
        yield from _capabilities(data.get("capabilities"), kind)
    yield from _upstream(data.get("upstream"))


def _foreign(path: tuple[str, ...], table: object, properties: Mapping[str, Any], kind: str) -> Iterator[Problem]:
    for key in table if isinstance(table, dict) else ():
        kinds = properties.get(key, {}).get("x-kinds", [kind])
        if kind not in kinds:
            yield Problem((*path, key), _only(kinds))


def _missing(data: Mapping[str, Any], properties: Mapping[str, Any], kind: str) -> Iterator[Problem]:
    for key, schema in properties.items():
        if key not in data and kind in schema.get("x-required-for", ()):
            yield Problem((), f"{key} is missing: add {schema['x-example']}")


def _capabilities(names: object, kind: str) -> Iterator[Problem]:
    kinds = target_schema()["$defs"]["capabilities"]["items"]["x-value-kinds"]
    for index, name in enumerate(names if isinstance(names, list) else ()):
        if isinstance(name, str) and kind not in kinds.get(name, [kind]):
            yield Problem(("capabilities", index), _only(kinds[name]))


def _only(kinds: Sequence[str]) -> str:
    named = " or ".join(f'"{kind}"' for kind in kinds)
    return f"is for kind = {named} only: remove it"


def _upstream(name: object) -> Iterator[Problem]:
    if not isinstance(name, str):
        return
    try:
        face_named(name)
    except UsageError as error:
        yield Problem(("upstream",), f"{error.message}; {error.hint}")
