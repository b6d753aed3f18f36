"""The secrets that a target's description takes from the environment: known before anything is started."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from harness.target import Target
from harness.target_keys import FromCommand, FromEnvironment, FromRequest, Request
from harness.template import JSON, placeholders

_SHORTEST = 8
_VARIABLE = "env:"


def from_environment(target: Target, environ: Mapping[str, str]) -> dict[str, str]:
    """The values of all variables that `target` names: of its keys as `key.NAME`, of placeholders as `env.NAME`.

    A placeholder's value of fewer than 8 characters is left out: it is no secret, and a word that stands elsewhere too.
    """
    found: dict[str, str] = {}
    for template in _templates(target):
        for name in placeholders(template):
            variable = name.removeprefix(_VARIABLE)
            if name != variable and len(environ.get(variable, "")) >= _SHORTEST:
                found[f"env.{variable}"] = environ[variable]
    for key in target.keys:
        if isinstance(key.source, FromEnvironment) and environ.get(key.source.variable):
            found[f"key.{key.name}"] = environ[key.source.variable]
    return found


def _templates(target: Target) -> Iterator[str]:
    if target.start is not None:
        yield from (*target.start.command, *target.start.env.values(), target.start.cwd)
    for key in target.keys:
        if isinstance(key.source, FromCommand):
            yield from key.source.command
        if isinstance(key.source, FromRequest):
            yield from _in_request(key.source.request)
        if key.revoke is not None:
            yield from _in_request(key.revoke)


def _in_request(request: Request) -> Iterator[str]:
    yield request.path
    yield from request.headers.values()
    yield from _in_json(request.body)


def _in_json(value: JSON) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for item in value if isinstance(value, list) else value.values():
            yield from _in_json(item)
