"""The wire shapes of the API, as JSON Schemas in `fixtures/schemas`."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any, Literal

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

Shape = Literal["chat_completion", "chat_completion_chunk", "error", "model_list"]

_SCHEMAS = Path(__file__).parent / "fixtures" / "schemas"


@functools.cache
def _validator(shape: Shape) -> Draft202012Validator:
    schema = json.loads((_SCHEMAS / f"{shape}.schema.json").read_text(encoding="utf-8"))
    return Draft202012Validator(schema)


def flaw(shape: Shape, value: Any) -> str | None:
    """What is wrong with `value` as a `shape`, with its place; None when nothing is."""
    error = best_match(_validator(shape).iter_errors(value))
    return f"{error.message} (at {error.json_path})" if error else None
