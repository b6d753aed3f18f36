"""Parts behind a target that only keep what they are told, and a description of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from harness.errors import HarnessError
from harness.exchange import Hop
from harness.fakes.model.script import Rule
from harness.held import Description
from harness.redaction import Redactor
from harness.tap_script import TapRule

DESCRIPTION = Description("opencode stand-in", {"name": "opencode stand-in", "version": "1"}, 8.0)


class Noted:
    """Parts behind a target that keep what they are told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, Any]] = []
        self.error: HarnessError | None = None

    def placeholders(self) -> Mapping[str, str]:
        return {"opencode_url": "http://127.0.0.1:1", "opencode_password": "password-of-opencode"}

    def conceal(self, redactor: Redactor) -> None:
        redactor.add("opencode", "password-of-opencode", "opencode")

    def canaries(self) -> Mapping[str, str]:
        return {"opencode's address": "127.0.0.1:1"}

    def observes(self, hop: Hop) -> bool:
        return hop in ("client", "model")

    def use_model_rules(self, rules: tuple[Rule, ...]) -> None:
        self._note("model", rules)

    def open_gate(self, name: str) -> None:
        self._note("gate", name)

    def use_tap_rules(self, rules: tuple[TapRule, ...]) -> None:
        self._note("tap", rules)

    def catch_up(self) -> None:
        pytest.fail("parts in the process of their journal need not catch up")

    def settle(self) -> None:
        self._note("settle")

    def _note(self, name: str, value: Any = None) -> None:
        if self.error:
            raise self.error
        self.told.append((name, value))
