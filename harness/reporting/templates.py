"""The templates in `reports/`: whatever a target or a user wrote is escaped in them."""

from __future__ import annotations

import functools
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

FOLDER = Path(__file__).parent.parent / "reports"


@functools.cache
def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def rendered(template: str, /, **values: object) -> str:
    """The template of that name with its values, of which none but a `source` is taken for markup."""
    return _environment().get_template(f"{template}.j2").render(values)


def source(name: str) -> Markup:
    """A style sheet or a script of ours, as it is."""
    return Markup((FOLDER / name).read_text(encoding="utf-8"))
