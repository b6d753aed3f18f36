"""What an opencode calls for its model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from harness import far_end
from harness.engine import Engine
from harness.errors import TargetNotReady
from harness.exchange import Exchange, header
from harness.fakes.model.server import ModelServer
from harness.far_end import OURS, FarEnd, Provider
from harness.journal import Journal

ASKED = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
KEY = "sk-provider-0123456789"


@pytest.fixture
def provider(engine: Engine) -> Iterator[tuple[str, Journal]]:
    """A model server of somebody else's: its address and its journal."""
    journal = Journal()
    server = ModelServer({"m"}, journal)
    engine.call(server.start(), 10)
    yield server.url, journal
    engine.call(server.stop(), 10)


def call(url: str, key: str) -> httpx.Response:
    headers = {"authorization": f"Bearer {key}"}
    return httpx.post(f"{url}/chat/completions", json=ASKED, headers=headers, trust_env=False)


def only(journal: Journal, hop: str) -> Exchange:
    (found,) = [exchange for exchange in journal.seen() if exchange.hop == hop]
    return found


def test_our_model_server_is_behind_a_tap(engine: Engine, tmp_path: Path) -> None:
    journal = Journal()
    with far_end.running(engine, journal, OURS, ["m"], tmp_path) as far:
        assert call(far.url, far.key).status_code == 200
        assert far.hops == {"model"}
        assert only(journal, "model").request.path == "/v1/chat/completions"


def test_a_provider_is_called_by_its_own_name_path_and_key(
    engine: Engine, tmp_path: Path, provider: tuple[str, Journal]
) -> None:
    """And asked for answers that can be read."""
    url, theirs = provider
    journal = Journal()
    wanted = FarEnd(provider=Provider(f"{url}/v1/", KEY))
    with far_end.running(engine, journal, wanted, ["m"], tmp_path) as far:
        assert call(far.url, far.key).status_code == 200
        assert far.model is None
        assert (set(far.hops), dict(far.secrets)) == ({"provider"}, {"provider": KEY})
    arrived = only(theirs, "model").request
    assert header(arrived.headers, "host") == url.removeprefix("http://")
    assert header(arrived.headers, "authorization") == f"Bearer {KEY}"
    assert header(arrived.headers, "accept-encoding") is None
    assert only(journal, "provider").status == 200


def test_a_proxy_that_ends_at_once_is_told_with_its_last_words(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(far_end, "_PROGRAM", "print('no database'); raise SystemExit(1)")
    with (
        pytest.raises(TargetNotReady) as caught,
        far_end.running(engine, Journal(), FarEnd(proxied=True), ["m"], tmp_path),
    ):
        pass
    assert "no database" in caught.value.log
