from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.errors import UsageError
from harness.reference.kilo.config import Config, load_config, read_config


def test_a_model_is_enough_and_the_rest_has_defaults() -> None:
    config = read_config({"model": "m"})
    assert (config.context_window, config.max_output_tokens, config.reasoning_field) == (
        32768,
        8192,
        "reasoning_content",
    )
    assert (config.model_server, config.command, config.kilo_config) == (None, ("kilo",), {})


def test_a_key_is_not_shown() -> None:
    assert "hidden" not in repr(Config("m", openai_api_key="hidden"))


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"model": "m", "modle": 1}, "modle"),
        ({"model": ""}, "model"),
        ({"model": "m", "concurrency": 0}, "concurrency"),
        ({"model": "m", "timeout": 0}, "timeout"),
    ],
)
def test_what_is_no_configuration_is_refused(values: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        read_config(values)


def test_a_file_that_cannot_be_used_is_a_usage_error(tmp_path: Path) -> None:
    file = tmp_path / "agent.json"
    for text in ("{", "[]", json.dumps({"model_server": None})):
        file.write_text(text)
        with pytest.raises(UsageError, match=r"agent\.json"):
            load_config(file)
