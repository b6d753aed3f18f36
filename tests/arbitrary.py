"""Arbitrary values of a type, for properties that hold of all of them: a field that is added is covered too."""

from __future__ import annotations

import dataclasses
import random
import types
from collections.abc import Mapping
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

_LETTERS = "az09 {}\"'\\/\n\r\t\x00\x1b\x7fäß→🙂\ud800\u2028\u202e"
_NUMBERS = (0, 1, -1, 7, 2**53, 10**20)
_FRACTIONS = (0.0, 0.1, 1.0, 2.5, 1e-9, 1e300)


def arbitrary(kind: Any, chance: random.Random, depth: int = 3) -> Any:
    """A value of `kind`: a dataclass, what the fields of the rules are made of, or `Any` for a JSON value."""
    origin, arguments = get_origin(kind), get_args(kind)
    if kind is Any:
        options = [None, bool, int, float, str, *([list[Any], dict[str, Any]] if depth else [])]
        return arbitrary(chance.choice(options), chance, depth - 1)
    if dataclasses.is_dataclass(kind):
        hints = get_type_hints(kind)
        fields = [field.name for field in dataclasses.fields(kind)]
        made = {name: arbitrary(hints[name], chance, depth) for name in fields}
        return kind(**made)  # type: ignore[operator]
    if origin in (Union, types.UnionType):
        return arbitrary(chance.choice(arguments), chance, depth)
    if origin is Literal:
        return chance.choice(arguments)
    if origin is tuple and arguments[-1] is not ...:
        return tuple(arbitrary(each, chance, depth) for each in arguments)
    if origin in (tuple, list):
        return origin(arbitrary(arguments[0], chance, depth) for _ in range(chance.randrange(4)))
    if origin in (dict, Mapping):
        return {_word(chance): arbitrary(arguments[1], chance, depth) for _ in range(chance.randrange(4))}
    plain: dict[Any, Any] = {
        None: lambda: None,
        types.NoneType: lambda: None,
        bool: lambda: chance.random() < 0.5,
        int: lambda: chance.choice(_NUMBERS),
        float: lambda: chance.choice(_FRACTIONS),
        str: lambda: _word(chance),
        bytes: lambda: chance.choice((_word(chance).encode("utf-8", "ignore"), chance.randbytes(5))),
    }
    return plain[kind]()


def _word(chance: random.Random) -> str:
    return "".join(chance.choices(_LETTERS, k=chance.randrange(12)))
