"""The reference Kilo agent as a command: it takes a prompt, and prints the answer.

python kilo_command.py [PROMPT]. Without one, it reads standard input. It is told its configuration in the
variables AGENT_*, or in the file $AGENT_CONFIG.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

from harness.reference.kilo.agent import Agent
from harness.reference.kilo.config import read_config
from harness.reference.kilo.parts import Parts


def configuration() -> dict[str, Any]:
    """What the agent is told."""
    if path := os.environ.pop("AGENT_CONFIG", None):
        told: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
        return told
    found = {
        name: os.environ.pop(name) for name in list(os.environ) if name.startswith("AGENT_") and name != "AGENT_ROLLOUT"
    }
    return {name.removeprefix("AGENT_").lower(): value_of(name, text) for name, text in found.items()}


def value_of(name: str, text: str) -> Any:
    if name == "AGENT_MODEL":
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def main() -> int:
    prompt = sys.argv[1] if len(sys.argv) > 1 else sys.stdin.read()
    agent = Agent(read_config(configuration()), Parts())
    try:
        response = asyncio.run(agent.respond({"input": prompt}, os.environ.pop("AGENT_ROLLOUT", None)))
    finally:
        agent.close()
    for item in response["output"]:
        for part in item.get("content", ()) if item["type"] == "message" else ():
            print(part["text"], end="")  # noqa: T201
    if response["status"] != "completed":
        print(response.get("error") or response["status"], file=sys.stderr)  # noqa: T201
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
