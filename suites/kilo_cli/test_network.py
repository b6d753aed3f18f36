"""Which other hosts a run asks for, besides its model server."""

from __future__ import annotations

import pytest

from harness.check import expect
from harness.kilo_actor import Kilo
from harness.kilo_expectations import expect_same, expect_turned
from harness.kilo_starts import NETWORK, network


@pytest.mark.requirement("KC-NET-1")
def test_other_hosts_are_asked_for_as_recorded(kilo: Kilo) -> None:
    """With each setting, the hosts that a proxy is asked for."""
    for played in kilo.play(*map(network, NETWORK)):
        expect_turned(played)
        paths = sorted({call.request.path for call in played.calls})
        wanted = ["/v1/chat/completions"]
        expect(paths == wanted, f"calls of {wanted} alone", f"{paths}", "call the declared base URL", *played.calls[:1])
        expect_same(played, "other hosts", list(played.ran.hosts), played.recorded["hosts"])
