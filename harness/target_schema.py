"""The schema of target files, and its violations in words that say how to mend them."""

from __future__ import annotations

import datetime
import difflib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator, ValidationError

from harness.literal_secrets import is_secret
from harness.toml_lines import KeyPath

SCHEMA_FILE = Path(__file__).parent / "fixtures" / "schemas" / "target.schema.json"
MATRIX_FILE = SCHEMA_FILE.with_name("matrix.schema.json")

_PYTHON_TYPES: tuple[tuple[type, str], ...] = (
    (type(None), "null"),
    (bool, "a boolean"),
    (str, "a string"),
    (int, "an integer"),
    (float, "a number"),
    (list, "an array"),
    (dict, "a table"),
    (datetime.datetime, "a date with a time"),
    (datetime.date, "a date"),
    (datetime.time, "a time"),
)
_SCHEMA_TYPES = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "a boolean",
    "array": "an array",
    "object": "a table",
    "null": "null",
}
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+\Z")


@dataclass(frozen=True)
class Problem:
    """Something wrong at one place of a target file, and how to mend it."""

    path: KeyPath
    message: str

    def __str__(self) -> str:
        """Return `keys[0].state: <message>`; a problem of the whole file has no key before it."""
        return f"{shown_path(self.path)}: {self.message}" if self.path else self.message


def target_problems(data: Mapping[str, Any]) -> set[Problem]:
    """Return what in the data of a target file breaks the schema."""
    return _problems(target_schema(), data, data.get("kind"))


def facts_problems(data: object) -> set[Problem]:
    """Return what in the recorded facts of a target breaks their part of the schema."""
    schema = target_schema()
    return _problems({"$ref": "#/$defs/facts", "$defs": schema["$defs"]}, data)


def matrix_problems(data: Mapping[str, Any]) -> set[Problem]:
    """Return what in the data of a matrix file breaks its schema."""
    return _problems(_schema(MATRIX_FILE), data)


def shown_path(path: KeyPath) -> str:
    """Return `path` as people write it: `keys[0].mint.headers."X Y"`."""
    shown = ""
    for part in path:
        if isinstance(part, int):
            shown += f"[{part}]"
        else:
            name = part if _BARE_KEY.match(part) else json.dumps(part, ensure_ascii=False)
            shown += f".{name}" if shown else name
    return shown


def shown_value(path: KeyPath, value: object) -> str:
    """Return `value` as a message may show it: not where it is, or may well be, a secret."""
    names_a_variable = path[:1] == ("keys",) and path[-1] == "env"
    if isinstance(value, str) and (names_a_variable or is_secret(path, value)):
        return "this value"
    return json.dumps(value, ensure_ascii=False, default=str)


def suggestion(word: str, known: Iterable[str]) -> str:
    """Return `did you mean "x"?`, or the list of what is known when nothing is near."""
    known = list(known)
    near = difflib.get_close_matches(word, known, n=1)
    return f"did you mean {json.dumps(near[0])}?" if near else f"known here: {', '.join(known)}"


def target_schema() -> dict[str, Any]:
    """Return the schema of target files."""
    return _schema(SCHEMA_FILE)


@cache
def _schema(path: Path) -> dict[str, Any]:
    schema: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return schema


def _problems(schema: Mapping[str, Any], data: object, kind: object = None) -> set[Problem]:
    checker = Draft202012Validator.FORMAT_CHECKER
    errors = Draft202012Validator(schema, format_checker=checker).iter_errors(_with_dates_as_text(data))
    return {problem for error in errors for problem in _said_of(error, kind)}


def _said_of(error: ValidationError, kind: object) -> Iterator[Problem]:
    """What is wrong, in words; of a target of `kind`, only what such a one may have is named."""
    if error.validator == "enum":
        return _not_in_enum(error, kind)
    return _BY_KEYWORD[str(error.validator)](error)


def _with_dates_as_text(data: object) -> object:
    """`data` with the dates of waivers as the strings that a JSON schema knows; other dates are for it to refuse."""
    if not isinstance(data, Mapping) or not isinstance(data.get("waivers"), list):
        return data
    return {**data, "waivers": [_with_date_as_text(waiver) for waiver in data["waivers"]]}


def _with_date_as_text(waiver: object) -> object:
    if isinstance(waiver, dict) and type(waiver.get("until")) is datetime.date:
        return {**waiver, "until": waiver["until"].isoformat()}
    return waiver


def _at(error: ValidationError, message: str, *below: str | int) -> Problem:
    return Problem((*error.absolute_path, *below), message)


def _wanted(error: ValidationError) -> Any:
    return error.validator_value


def _found(error: ValidationError) -> Any:
    return error.instance


def _schema_at(error: ValidationError) -> Any:
    return error.schema


def _unknown_keys(error: ValidationError) -> Iterator[Problem]:
    known = _schema_at(error)["properties"]
    for key in _found(error):
        if key not in known:
            yield _at(error, f"unknown key; {suggestion(key, known)}", key)


def _missing_keys(error: ValidationError) -> Iterator[Problem]:
    for key in _wanted(error):
        if key not in _found(error):
            example = _schema_at(error)["properties"][key].get("x-example", key)
            yield _at(error, f"{key} is missing: add {example}")


def _wrong_type(error: ValidationError) -> Iterator[Problem]:
    wanted = _wanted(error) if isinstance(_wanted(error), list) else [_wanted(error)]
    found = next(name for kind, name in _PYTHON_TYPES if isinstance(_found(error), kind))
    named = _schema_at(error).get("x-type", " or ".join(_SCHEMA_TYPES[name] for name in wanted))
    yield _at(error, f"must be {named}, not {found}")


def _not_in_enum(error: ValidationError, kind: object) -> Iterator[Problem]:
    value = shown_value(tuple(error.absolute_path), _found(error))
    kinds = _schema_at(error).get("x-value-kinds", {})
    fitting = [each for each in _wanted(error) if kind in kinds.get(each, [kind])]
    yield _at(error, f"{value} is not one of {', '.join(fitting or _wanted(error))}")


def _not_expected(error: ValidationError) -> Iterator[Problem]:
    value = shown_value(tuple(error.absolute_path), _found(error))
    yield _at(error, f"{value} is not {_schema_at(error)['x-expects']}")


def _twice(error: ValidationError) -> Iterator[Problem]:
    for index, value in enumerate(_found(error)):
        if value in _found(error)[:index]:
            yield _at(error, f"{shown_value((), value)} is here twice: keep one", index)


def _limit(words: str) -> Callable[[ValidationError], Iterator[Problem]]:
    def problem(error: ValidationError) -> Iterator[Problem]:
        yield _at(error, f"{_found(error)} is out of range: it must be {words} {_wanted(error)}")

    return problem


def _says(message: str) -> Callable[[ValidationError], Iterator[Problem]]:
    def problem(error: ValidationError) -> Iterator[Problem]:
        yield _at(error, message)

    return problem


_BY_KEYWORD: Mapping[str, Callable[[ValidationError], Iterator[Problem]]] = {
    "additionalProperties": _unknown_keys,
    "required": _missing_keys,
    "type": _wrong_type,
    "pattern": _not_expected,
    "format": _not_expected,
    "uniqueItems": _twice,
    "minimum": _limit("at least"),
    "maximum": _limit("at most"),
    "exclusiveMinimum": _limit("more than"),
    "minLength": _says("must not be empty"),
    "minItems": _says("must not be empty"),
    "const": _says("must be true, or left out"),
}
