"""The agent's small decisions, each in a place of its own, so that one can be exchanged for another.

Every field defaults to what keeps the contract; a broken agent is `dataclasses.replace` of one of them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.reference.kilo import (
    agent,
    budget,
    command,
    environment,
    events,
    outcome,
    prompt,
    resources,
    routing,
    transcript,
)
from harness.reference.kilo import settings as settings_file
from harness.reference.kilo.config import Config
from harness.reference.kilo.events import Event, ReadEvent
from harness.reference.kilo.outcome import Failure, Ran
from harness.reference.kilo.prompt import Said
from harness.reference.kilo.run import Folder, Runner
from harness.reference.kilo.settings import Settings
from harness.reference.kilo.transcript import Item

Body = dict[str, Any]


@dataclass(frozen=True)
class Parts:
    """What an agent is made of; see the default of each field for what it takes and gives."""

    read_request: Callable[[object], tuple[Said, ...]] = prompt.read_request
    render: Callable[[str | None, Sequence[Said]], str] = prompt.render
    check_prompt: Callable[[str], None] = command.check_prompt

    split_rollout: Callable[[str], tuple[str, str | None]] = routing.split_rollout
    resolve_url: Callable[[Config, str | None], str | None] = routing.resolve_url
    build_settings: Callable[[Config, str | None], Settings | None] = settings_file.build_settings
    write_settings: Callable[[Settings, Path], None] = settings_file.write_settings
    build_command: Callable[[Config, Path, str], list[str]] = command.build_command
    build_environment: Callable[[Config, str | None, Path, Mapping[str, str]], dict[str, str]] = (
        environment.build_environment
    )

    make_pool: Callable[[int], ThreadPoolExecutor] = agent.pool
    make_folder: Callable[[str | None], Folder] = Folder
    make_runner: Callable[[ReadEvent], Runner] = Runner
    read_event: ReadEvent = events.read_event
    distinct: Callable[[Sequence[Event]], tuple[Event, ...]] = transcript.distinct
    output_items: Callable[[Sequence[Event]], list[Item]] = transcript.output_items
    usage: Callable[[Sequence[Event]], Item] = transcript.usage

    doubt: Callable[[Config, Settings | None, str], str | None] = budget.doubt
    overflow: Callable[[Config, Settings | None, Sequence[Event]], str | None] = budget.overflow
    judge: Callable[[Ran, str | None, float], Failure | None] = outcome.judge

    roll_out: Callable[[str, Body, Callable[[], Awaitable[Body]]], Awaitable[Body]] = resources.roll_out
