"""From what was recorded of a version to its row of rules, by which the stand-in goes (`harness.fakes.kilo.rules`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.fakes.kilo.rules import Rules
from harness.kilo_budget import rule_of
from harness.kilo_recorded import file_name
from harness.kilo_starts import (
    BROKEN,
    FIELDS,
    HELP,
    PLAIN,
    REFUSED,
    REJECTED,
    TOOLS,
    Scenario,
    broken,
    budget,
    missing,
    network,
    over_window,
    prompted,
    reasoning,
)

Outcome = Mapping[str, Any]

_UNEXPECTED = "Unexpected server error"
_INVALID = "Configuration is invalid"


def rules(version: str, outcomes: Mapping[str, Outcome]) -> dict[str, Any]:
    """The rules of a version as the JSON object of its table; `outcomes` are its recordings by the names of files."""
    derived = _Derived(outcomes)
    table = {
        "version": version,
        **derived.requests(),
        **derived.reasoning(),
        **derived.events(),
        **derived.endings(),
        **derived.hosts(),
    }
    assert table.keys() == set(Rules._fields), table.keys() ^ set(Rules._fields)
    return table


class _Derived:
    def __init__(self, outcomes: Mapping[str, Outcome]) -> None:
        self._outcomes = outcomes

    def _of(self, scenario: Scenario) -> Outcome:
        return self._outcomes[file_name(scenario.name)]

    def requests(self) -> dict[str, Any]:
        """What is asked of the model."""
        plain = self._of(PLAIN)
        turn, asides = _turns(plain)[0], _asides(plain)
        dashed = _turns(self._of(prompted("a dash")))[0]["prompt"]
        limit = {"output": 0, "context": 32768}
        limited = _turns(self._of(budget(limit["output"], limit["context"])))[0]
        return {
            "options": self._of(HELP)["options"],
            "tools": turn["tools"],
            "system": turn["system"],
            "schemas": turn["characters"] - turn["system"],
            "title_call": bool(asides),
            "environment": isinstance(turn["prompt"], list),
            "quotes": isinstance(dashed, str) and dashed.startswith('"'),
            "window": rule_of(limited, limit) == "window",
        }

    def reasoning(self) -> dict[str, Any]:
        """What becomes of reasoning."""
        thinking, quiet = (self._of(reasoning(None, thinking=on)) for on in (True, False))
        told = [event["part"]["text"] for event in thinking["events"] if event["type"] == "reasoning"]
        back = {field or "": _key(self._of(reasoning(field, thinking=True))) for field in (None, *FIELDS)}
        return {
            "reasoning_fields": [field for field in FIELDS if f"thought in {field}" in told],
            "needs_thinking": not any(event["type"] == "reasoning" for event in quiet["events"]),
            "sent_back": back,
        }

    def events(self) -> dict[str, Any]:
        """What events hold that others do not."""
        parts = [event["part"] for event in self._of(TOOLS)["events"]]
        bash, read, failed, _, unknown, _ = [part for part in parts if part["type"] == "tool"]
        last = [part for part in parts if part["type"] == "step-finish"][-1]
        called = str(unknown["tool"])
        return {
            "measures": "metrics" in last,
            "approvals": "approval" in bash["state"]["metadata"],
            "displays": "display" in read["state"]["metadata"],
            "unknown_tool": None if called == "nonesuch" else called,
            "error_prefix": "Error: " if failed["state"]["error"].startswith("Error: ") else "",
            "output_without": last["tokens"]["output"] + last["tokens"]["reasoning"] == 50,
            **self._broken(),
        }

    def _broken(self) -> dict[str, Any]:
        """What becomes of a stream that is not whole."""
        refused, garbled, unfinished = (self._of(broken(case)) for case in BROKEN)
        error, garble = _errors(refused)[0], _errors(garbled)[0]
        reasons = [event["part"]["reason"] for event in unfinished["events"] if event["type"] == "step_finish"]
        return {
            "error_object": error.startswith("{"),
            "parse_prefix": garble.partition("JSON parsing failed")[0],
            "keeps_partial": any(event["type"] == "text" for event in refused["events"]),
            "unfinished": reasons[0],
            "asks_again": len(reasons) > 1,
        }

    def endings(self) -> dict[str, Any]:
        """How a run ends that goes wrong."""
        unlisted, refused = self._of(missing("unlisted")), self._of(REFUSED)
        overflow = self._of(over_window("error"))
        invalid = self._of(budget(None, 32768))["complaints"]
        announced = [e for e in unlisted["events"] if _UNEXPECTED in str(e.get("error"))]
        return {
            "refuses_configuration": any(said.startswith(_INVALID) for said in invalid),
            "not_found": unlisted["status"],
            "announces": bool(announced),
            "complains": bool(unlisted["complaints"]),
            "failed": refused["status"],
            "rejected": self._of(REJECTED)["status"],
            "empty": self._of(over_window("empty_length"))["status"],
            "compacts": len(_asides(overflow)) > len(_asides(refused)),
        }

    def hosts(self) -> dict[str, Any]:
        """Which other hosts are asked for because of what."""
        settings = ("as it comes", "telemetry off", "catalogue off too", "all switched off")
        asked = [set(self._of(network(case))["hosts"]) for case in settings]
        telemetry, catalogue, gateway = (asked[at] - asked[at + 1] for at in range(3))
        return {
            "hosts": {
                "telemetry": sorted(telemetry),
                "catalogue": sorted(catalogue),
                "gateway": sorted(gateway),
                "always": sorted(asked[-1]),
            },
            "lingers": self._of(network("as it comes"))["status"] is None,
        }


def _turns(outcome: Outcome) -> list[dict[str, Any]]:
    return [call for call in outcome["calls"] if call["tools"]]


def _asides(outcome: Outcome) -> list[dict[str, Any]]:
    return [call for call in outcome["calls"] if not call["tools"]]


def _errors(outcome: Outcome) -> list[str]:
    """What the error events say."""
    return [event["error"]["data"]["message"] for event in outcome["events"] if event["type"] == "error"]


def _key(outcome: Outcome) -> str | None:
    """The field under which reasoning goes back; None where no turn came about, or where none goes back."""
    turns = _turns(outcome)
    return next((key for message in turns[-1]["sent back"] for key in message), None) if turns else None
