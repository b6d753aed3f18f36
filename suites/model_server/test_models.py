"""The list of models."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.actors import Client
from harness.check import expect
from harness.exchange import Request
from harness.expectations import shown
from harness.shapes import flaw
from harness.target_keys import KeyFacts


@pytest.mark.requirement("MS-MODELS-1")
def test_the_list_names_what_is_served(client: Client, key: KeyFacts, expect_answers: Callable[[], None]) -> None:
    """Each model of the key is in it."""
    reply = client.send("list", Request("GET", "/v1/models"), key=key.name)
    wrong = flaw("model_list", reply.json())
    expect(reply.status == 200 and wrong is None, "a list of models", f"{wrong}; {shown(reply)}", "list them", reply)
    listed = [entry["id"] for entry in reply.json()["data"]]
    missing = [model for model in key.agents if model not in listed]
    expect(not missing, f"a list with {', '.join(key.agents)}", f"{listed}", "list every model", reply)
    expect_answers()
