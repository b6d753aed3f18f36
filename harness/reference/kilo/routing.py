"""Where the model is, and under which name Kilo knows it."""

from __future__ import annotations

import re

from harness.reference.kilo.config import Config

PROVIDER = "nemo"
"""The provider under which Kilo finds the model server."""

_ROLLOUT = re.compile(r"/ng-rollout/([A-Za-z0-9._-]+)(?=/)")


def resolve_url(config: Config, rollout: str | None) -> str | None:
    """The base URL for the model calls of a run, inside a rollout or not; None without a model server."""
    if config.model_server is None:
        return None
    root = config.model_server.rstrip("/").removesuffix("/v1")
    return f"{root}/ng-rollout/{rollout}/v1" if rollout is not None else f"{root}/v1"


def effective_model(config: Config) -> str:
    """The value of `-m`: Kilo splits it at its first slash."""
    return config.model if config.model_server is None else f"{PROVIDER}/{config.model}"


def split_rollout(path: str) -> tuple[str, str | None]:
    """A path without the prefix of its rollout, and the rollout's id, None when it has no such prefix."""
    match = _ROLLOUT.match(path)
    return (path[match.end() :], match[1]) if match else (path, None)
