"""The command line of a run."""

from __future__ import annotations

from pathlib import Path

from harness.reference.kilo.config import Config
from harness.reference.kilo.refusal import Refusal
from harness.reference.kilo.routing import effective_model

LONGEST = 128 * 1024 - 1
"""Bytes of the longest argument that Linux takes, without the zero byte after it."""


def build_command(config: Config, folder: Path, prompt: str) -> list[str]:
    """The CLI and its arguments; the prompt comes after `--`, so that it may begin with a dash."""
    thinking = ["--thinking"] if config.thinking else []
    return [
        *config.command,
        *("run", "--auto", "--pure", "--format", "json"),
        *("-m", effective_model(config)),
        *("--dir", str(folder)),
        *thinking,
        *config.extra_args,
        *("--", prompt),
    ]


def check_prompt(prompt: str) -> None:
    """Raise Refusal for a prompt that cannot be an argument."""
    if "\0" in prompt:
        raise Refusal(400, "The prompt holds a NUL character, which cannot be passed to the Kilo CLI.")
    try:
        size = len(prompt.encode())
    except UnicodeEncodeError:
        raise Refusal(400, "The prompt holds an unpaired surrogate, which no text in UTF-8 can hold.") from None
    if size > LONGEST:
        raise Refusal(413, f"The prompt has {size} bytes; the Kilo CLI can be given {LONGEST} at most.")
