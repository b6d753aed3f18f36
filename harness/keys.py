"""How a target's keys are had: from the environment, from a command, or minted by a request to the target."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

import httpx

from harness.bounded import send
from harness.errors import TargetNotReady, UsageError
from harness.json_pointer import pointed
from harness.readiness import told_end
from harness.supervised import StartFailed, Supervised
from harness.target import Target
from harness.target_keys import FromCommand, FromRequest, Key, Request
from harness.template import expand, expand_json
from harness.work_folder import work_folder

_SECONDS = 30.0
# A key is some bytes; what prints without an end must not fill the disk.
_FILE_BYTES = 16 << 20
_STEP = "its keys are had"
_COMMAND = "make the command by hand in the folder of the target file, and mend it there"
_MINT = "check the request under mint or revoke, and the target's output"
_POINTER = "check the pointer against an answer of the target"


def obtain(target: Target, values: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Every key of `target` with its name, as soon as it is known; `values` fill the placeholders.

    An expired or revoked key whose environment variable is not set is left out: what needs it is not measured.
    Raises UsageError when a valid key's variable is missing, TargetNotReady when a key cannot be minted or revoked.
    """
    for key in target.keys:
        if isinstance(key.source, FromRequest):
            yield from _mint(key, key.source, values)
        elif isinstance(key.source, FromCommand):
            yield key.name, _run(target, key.source, values, f"key {key.name}")
        elif secret := _look_up(key, key.source.variable):
            yield key.name, secret


def _look_up(key: Key, variable: str) -> str | None:
    secret = os.environ.get(variable)
    if not secret and key.state == "valid":
        message = f"key {key.name}: the environment variable {variable} is not set, or is empty"
        raise UsageError(message, f"Set {variable}.")
    return secret


def _run(target: Target, source: FromCommand, values: Mapping[str, str], where: str) -> str:
    command = [expand(part, values, os.environ, f"{where}: command") for part in source.command]
    with work_folder() as folder:
        printed = folder / "stdout"
        try:
            process = Supervised.start(
                command, env=os.environ, cwd=target.folder, name=where, stdout=printed, file_bytes=_FILE_BYTES
            )
        except StartFailed as error:
            raise TargetNotReady(_STEP, f"{where}: its command cannot be run: {error.reason}", _COMMAND) from error
        with process:
            status = process.wait(_SECONDS)
        secret = printed.read_text(encoding="utf-8", errors="replace").strip()
    if status != 0:
        end = f"did not end within {_SECONDS:g} s" if status is None else told_end(status).removeprefix("it ")
        raise TargetNotReady(_STEP, f"{where}: its command {end}", _COMMAND, process.output.text())
    if not secret:
        raise TargetNotReady(_STEP, f"{where}: its command printed nothing", "print the key on standard output")
    return secret


def _mint(key: Key, source: FromRequest, values: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    where = f"key {key.name}"
    answer = _send(source.request, values, f"{where}: mint")
    known = {**values, "key": _point(answer, source.pointer, f"{where}: pointer")}
    yield key.name, known["key"]
    if key.revoke is not None:
        if source.id_pointer is not None:
            known["key_id"] = _point(answer, source.id_pointer, f"{where}: id_pointer")
        _send(key.revoke, known, f"{where}: revoke")


def _send(request: Request, values: Mapping[str, str], where: str) -> Any:
    url = values["url"] + expand(request.path, values, os.environ, where)
    headers = {name: expand(value, values, os.environ, where) for name, value in request.headers.items()}
    body = expand_json(request.body, values, os.environ, where)
    try:
        response = send(request.method, url, headers, body, _SECONDS)
        response.raise_for_status()
        return response.json() if response.content else None
    except httpx.HTTPStatusError as error:
        raise TargetNotReady(_STEP, f"{where}: the target answered {error.response.status_code}", _MINT) from error
    except (httpx.HTTPError, ValueError) as error:
        raise TargetNotReady(_STEP, f"{where}: {error}", _MINT) from error


def _point(value: Any, pointer: str, where: str) -> str:
    """The string, or number as one, at a JSON pointer (RFC 6901) into `value`."""
    try:
        found = pointed(value, pointer)
    except LookupError as error:
        raise TargetNotReady(_STEP, f"{where}: the answer has nothing at {pointer}", _POINTER) from error
    if not isinstance(found, (str, int)) or isinstance(found, bool) or found == "":
        raise TargetNotReady(_STEP, f"{where}: what the answer has at {pointer} is no text", _POINTER)
    return str(found)
