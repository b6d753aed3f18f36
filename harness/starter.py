"""A target file to begin with, for each kind of target, and the schema that editors check it with."""

from __future__ import annotations

from pathlib import Path

from harness.errors import UsageError
from harness.kinds import KINDS
from harness.target_schema import SCHEMA_FILE

SCHEMA_NAME = "turnproof.schema.json"
"""The file of the schema, beside the target files that name it in their first line."""

_FOLDER = Path(__file__).parent / "fixtures" / "starters"


def starter(kind: str) -> str:
    """The commented target file of a kind."""
    return (_FOLDER / f"{kind}.toml").read_text(encoding="utf-8")


def kinds() -> tuple[str, ...]:
    """The kinds that there is a starter for: all."""
    return tuple(kind.name for kind in KINDS)


def begin(kind: str, path: Path) -> None:
    """Write the target file of a kind to `path`, and the schema beside it, anew where one is.

    Raises UsageError when there is a file at `path`, or none can be written.
    """
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(starter(kind).replace("FILE", path.name))
        path.with_name(SCHEMA_NAME).write_bytes(SCHEMA_FILE.read_bytes())
    except FileExistsError as error:
        hint = f"name another: turnproof init {kind} FILE"
        raise UsageError(f"{path}: there is a file already, and it is left as it is", hint) from error
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}", "name another file") from error
