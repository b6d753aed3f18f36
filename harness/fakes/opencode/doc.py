"""The document of the routes: an honest one, of what the stand-in has."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def document(version: str, routes: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """An OpenAPI document of (method, path) routes."""
    paths: dict[str, dict[str, Any]] = {}
    for method, path in routes:
        answer = {"200": {"description": "the answer of the stand-in"}}
        paths.setdefault(path, {})[method.lower()] = {"responses": answer}
    return {"openapi": "3.1.0", "info": {"title": "opencode", "version": version}, "paths": paths}
