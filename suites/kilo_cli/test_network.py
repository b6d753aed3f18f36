"""Which other hosts a run asks for, besides its model server."""

from __future__ import annotations

import pytest

from harness.actors import JournalReader
from harness.check import expect
from harness.kilo_actor import Kilo
from harness.kilo_expectations import expect_same, expect_turned
from harness.kilo_starts import NETWORK, network

COMPLETIONS = "/v1/chat/completions"


@pytest.mark.requirement("KC-NET-1")
def test_other_hosts_are_asked_for_as_recorded(kilo: Kilo, journal: JournalReader) -> None:
    """With each setting, the hosts that a proxy is asked for."""
    plays = kilo.play(*map(network, NETWORK))
    paths = sorted({call.request.path for call in journal.read("all calls", "model")})
    mend = "ask the provider for completions and for nothing else"
    expect(paths == [COMPLETIONS], f"requests to {COMPLETIONS} alone", f"{paths}", mend)
    for played in plays:
        expect_turned(played)
        expect_same(played, "other hosts", list(played.ran.hosts), played.recorded["hosts"])
