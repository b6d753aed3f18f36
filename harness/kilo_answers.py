"""Answers of an agent that wraps the Kilo CLI, in the shape of the Responses API, as checks read and judge them."""

from __future__ import annotations

import json
import re
from typing import Any

from harness.check import expect
from harness.exchange import Exchange
from harness.expectations import shown

_ID = re.compile(r"[0-9a-fA-F-]{8,}|[0-9]+")
_ACCESS = " HTTP/1."
"""What is in a line of an access log, which says nothing of a run."""
_SAY_WHY = "say in the answer, or in the log, that the run failed and why"


def response_of(exchange: Exchange) -> dict[str, Any]:
    """The response in an answer, also in that of a whole rollout; empty when there is none."""
    body = exchange.json()
    if isinstance(body, dict) and isinstance(body.get("response"), dict):
        body = body["response"]
    return body if isinstance(body, dict) else {}


def items_of(exchange: Exchange) -> list[dict[str, Any]]:
    """The items of the response's output."""
    output = response_of(exchange).get("output")
    return [item for item in output if isinstance(item, dict)] if isinstance(output, list) else []


def text_in(item: dict[str, Any]) -> str:
    """The text of an item: of a message, a thought or a tool's output."""
    if isinstance(item.get("output"), str):
        return str(item["output"])
    parts = [part for name in ("summary", "content", "output") for part in _list(item.get(name))]
    return "".join(str(part.get("text", "")) for part in parts if isinstance(part, dict))


def text_of(exchange: Exchange) -> str:
    """What the assistant said, in all of its messages."""
    return "".join(text_in(item) for item in items_of(exchange) if is_said(item))


def is_said(item: dict[str, Any]) -> bool:
    """Whether an item is a message of the assistant."""
    return item.get("type") == "message" and item.get("role") == "assistant"


def outcome_of(exchange: Exchange) -> tuple[int | None, Any, str]:
    """How an answer says that its run went: the status of HTTP, that of the response, and its error without ids."""
    response = response_of(exchange)
    return exchange.status, response.get("status"), _ID.sub("#", json.dumps(response.get("error")))


def is_finished(exchange: Exchange) -> bool:
    """Whether an answer passes its run off as one that went well."""
    response = response_of(exchange)
    return exchange.status == 200 and response.get("status") in (None, "completed") and not response.get("error")


def expect_answered(exchange: Exchange, said: str, why: str) -> None:
    """The run went well, and the model's word `said` came back as the assistant's; `why` completes "for ..."."""
    mend = "run the Kilo CLI against the model server and pass on what it says"
    expect(is_finished(exchange), f"a response that is completed for {why}", shown(exchange), mend, exchange)
    wanted = f"the model's word {said} from the assistant for {why}"
    expect(said in text_of(exchange), wanted, shown(exchange), mend, exchange)


def expect_failure(exchange: Exchange, log: str, why: str) -> None:
    """The run is not passed off as one that went well, and somewhere it is said why not."""
    expected = f"an answer that does not call the run finished for {why}"
    expect(exchange.status is not None and not is_finished(exchange), expected, shown(exchange), _SAY_WHY, exchange)
    said = bool(_reason(exchange)) or any(line.strip() and _ACCESS not in line for line in log.splitlines())
    expect(said, f"an error that says something for {why}", shown(exchange), _SAY_WHY, exchange)


def _reason(exchange: Exchange) -> str:
    body = exchange.json()
    found = [response_of(exchange).get("error"), body.get("error") if isinstance(body, dict) else None]
    for error in found:
        if isinstance(error, dict) and error.get("message"):
            return str(error["message"])
        if isinstance(error, str) and error:
            return error
    detail = body.get("detail") if isinstance(body, dict) else None
    return detail if isinstance(detail, str) else ""


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
