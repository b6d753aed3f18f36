"""The agent's configuration: a JSON file that says nothing of how the agent is made."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from harness.errors import UsageError

_LISTS = ("command", "extra_args")


@dataclass(frozen=True)
class Config:
    """What the agent is told.

    `model_server` is the base URL of an OpenAI-compatible server, with `/v1`; None leaves the model calls to a
    provider that `kilo_config` declares, and `model` then begins with that provider's name. `kilo_config` is what
    `kilo.json` holds besides. A run has `timeout` seconds; `concurrency` of them go on at the same time. A run works on
    a copy of the folder `repo_dir`, or in an empty one. `command` is the CLI and its first arguments; `extra_args` go
    before the prompt. `resources_server` is the base URL of the server that seeds and verifies rollouts.
    """

    model: str
    model_server: str | None = None
    context_window: int = 32768
    max_output_tokens: int = 8192
    reasoning_field: str | None = "reasoning_content"
    kilo_config: Mapping[str, Any] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    openai_base_url: str | None = None
    openai_api_key: str | None = field(default=None, repr=False)
    thinking: bool = True
    timeout: float = 600.0
    concurrency: int = 8
    extra_args: tuple[str, ...] = ()
    system_prompt: str | None = None
    repo_dir: str | None = None
    command: tuple[str, ...] = ("kilo",)
    resources_server: str | None = None


def load_config(path: Path) -> Config:
    """The configuration in the file at `path`; raises UsageError when it cannot be used."""
    try:
        values = json.loads(path.read_text("utf-8"))
        return read_config(values)
    except (OSError, ValueError, TypeError) as error:
        raise UsageError(f"{path}: {error}", "Its keys are the fields of Config.") from error


def read_config(values: object) -> Config:
    """The configuration that `values` say; raises ValueError or TypeError for what is none."""
    if not isinstance(values, Mapping):
        raise TypeError("a configuration is an object")
    known = {entry.name for entry in fields(Config)}
    unknown = sorted(values.keys() - known)
    if unknown:
        raise ValueError(f"unknown: {', '.join(unknown)}; known are {', '.join(sorted(known))}")
    lists = {name: tuple(values[name]) for name in _LISTS if name in values}
    config = Config(**{**values, **lists})
    if not isinstance(config.model, str) or not config.model:
        raise ValueError("model must be a string that is not empty")
    if config.concurrency < 1 or config.timeout <= 0:
        raise ValueError("concurrency and timeout must be more than zero")
    return config
