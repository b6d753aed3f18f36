"""What an opencode calls for its model: our model server or a provider, directly or through a LiteLLM proxy."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import secrets
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from importlib.metadata import distribution
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from harness.engine import Engine
from harness.errors import TargetNotReady, UsageError
from harness.exchange import Hop
from harness.fakes.model.server import ModelServer
from harness.journal import Journal
from harness.listener import free_port
from harness.supervised import StartFailed, Supervised
from harness.tap import Tap

_CALL_SECONDS = 10.0
_READY_SECONDS = 120.0
_POLL_SECONDS = 0.1
_STEP = "the proxy comes up"
_PROGRAM = "from litellm import run_server; run_server()"
_NO_KEY = "none"
"""The key that our model server is called with: it takes any."""


@dataclass(frozen=True)
class Provider:
    """A model server that is not ours, at `url` with its version (`https://…/v1`); `model` is its name for any model
    that is asked for, None where the names are its own."""

    url: str
    key: str = field(repr=False)
    model: str | None = None


@dataclass(frozen=True)
class FarEnd:
    """What is wanted at the far end: our model server unless a provider is named, behind a proxy or not."""

    proxied: bool = False
    provider: Provider | None = None

    def __str__(self) -> str:
        last = "a provider" if self.provider else "model server"
        return f"LiteLLM proxy, {last}" if self.proxied else last


OURS = FarEnd()
"""Our model server, and nothing before it."""


@dataclass(frozen=True)
class RunningFarEnd:
    """A far end that is up: `url` (with its version) and `key` are what opencode is told.

    `model` is our model server, None where a provider is asked; `hops` are those that are seen, `secrets` what must not
    be told, by name, `addresses` where the parts are.
    """

    url: str
    key: str
    model: ModelServer | None
    hops: frozenset[Hop]
    secrets: Mapping[str, str]
    addresses: Mapping[str, str]


@contextlib.contextmanager
def running(
    engine: Engine, journal: Journal, wanted: FarEnd, models: Sequence[str], work: Path
) -> Iterator[RunningFarEnd]:
    """The far end, serving `models`, for as long as the context lasts; its processes keep their files under `work`.

    Raises TargetNotReady when the proxy does not come up.
    """
    with contextlib.ExitStack() as ends:
        provider, model = wanted.provider, None
        if provider is None:
            model = ModelServer(models)
            _serve(engine, ends, model)
            tap = Tap("model", model.url, journal)
            path, key = "/v1", _NO_KEY
        else:
            address = urlsplit(provider.url)
            tap = Tap("provider", f"{address.scheme}://{address.netloc}", journal, foreign=True)
            path, key = address.path.rstrip("/"), provider.key
        _serve(engine, ends, tap)
        hops: set[Hop] = {"provider" if provider else "model"}
        told = {"provider": provider.key} if provider else {}
        addresses = {"the model server's address": urlsplit(tap.url).netloc}
        url = f"{tap.url}{path}"
        if wanted.proxied:
            upstream, own = (url, key), f"sk-{secrets.token_urlsafe(24)}"
            named = {name: (provider.model if provider and provider.model else name) for name in models}
            proxy_tap = Tap("proxy", ends.enter_context(_litellm(upstream, own, named, work)), journal)
            _serve(engine, ends, proxy_tap)
            url, key = f"{proxy_tap.url}/v1", own
            hops.add("proxy")
            told |= {"proxy": own}
            addresses |= {"the proxy's address": urlsplit(proxy_tap.url).netloc}
        yield RunningFarEnd(url, key, model, frozenset(hops), told, addresses)


def litellm_is_there() -> bool:
    """Whether the LiteLLM proxy is installed where this runs."""
    # It is looked for by what only its extra brings: to import litellm takes seconds.
    return all(importlib.util.find_spec(name) is not None for name in ("litellm", "backoff"))


def expect_litellm() -> None:
    """Raises UsageError unless the LiteLLM proxy is installed where this runs."""
    if not litellm_is_there():
        raise UsageError(
            "the LiteLLM proxy is not installed",
            "pip install 'turnproof[litellm-proxy]', or leave the proxy out with --direct.",
        )


def describe_litellm() -> dict[str, str]:
    """The LiteLLM that is installed, for the header of a results file.

    Its digest is that of the list of its files, which has a digest of each.
    """
    installed = distribution("litellm")
    record = installed.read_text("RECORD") or ""
    return {"name": "litellm", "version": installed.version, "sha256": sha256(record.encode()).hexdigest()}


@contextlib.contextmanager
def _litellm(upstream: tuple[str, str], key: str, named: Mapping[str, str], work: Path) -> Iterator[str]:
    """The base URL of a proxy that asks `upstream` (base URL and key), once it answers with its own `key`."""
    folder = work / "litellm"
    folder.mkdir()
    config = folder / "config.json"  # JSON is YAML too
    config.write_text(json.dumps(_config(named)), encoding="utf-8")
    port = str(free_port())
    command = [sys.executable, "-c", _PROGRAM, "--config", str(config), "--host", "127.0.0.1", "--port", port]
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(folder),
        "UPSTREAM_URL": upstream[0],
        "UPSTREAM_KEY": upstream[1],
        "LITELLM_MASTER_KEY": key,
        # It looks at no other host on its way.
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "LITELLM_TELEMETRY": "False",
    }
    try:
        process = Supervised.start(command, env=environment, cwd=folder, name="litellm")
    except StartFailed as error:
        raise TargetNotReady(_STEP, f"{command[0]}: {error.reason}", "use a Python that can be run") from error
    url = f"http://127.0.0.1:{port}"
    with process:
        _await(url, key, process)
        yield url


def _config(named: Mapping[str, str]) -> dict[str, object]:
    told = {"api_base": "os.environ/UPSTREAM_URL", "api_key": "os.environ/UPSTREAM_KEY"}
    models = [
        {"model_name": name, "litellm_params": {"model": f"openai/{real}", **told}} for name, real in named.items()
    ]
    return {
        "model_list": models,
        # A fault of the model is to be seen as it is: not tried again, and not remembered.
        "router_settings": {"num_retries": 0, "disable_cooldowns": True},
        "litellm_settings": {"num_retries": 0},
        "general_settings": {"master_key": "os.environ/LITELLM_MASTER_KEY"},
    }


def _await(url: str, key: str, process: Supervised) -> None:
    """Wait until the proxy knows its key: our process, and not a stranger's on the same port, is up then."""
    deadline = time.monotonic() + _READY_SECONDS
    with httpx.Client(base_url=url, trust_env=False, timeout=5.0) as http:
        while time.monotonic() < deadline:
            if process.poll() is not None:
                raise TargetNotReady(_STEP, "LiteLLM ended", "see its output", process.output.text())
            with contextlib.suppress(httpx.HTTPError):
                good = http.get("/v1/models", headers={"authorization": f"Bearer {key}"})
                bad = http.get("/v1/models", headers={"authorization": "Bearer sk-another"})
                if good.status_code == 200 and bad.status_code >= 400:
                    return
            time.sleep(_POLL_SECONDS)
    message = f"LiteLLM did not come up within {_READY_SECONDS:g} s"
    raise TargetNotReady(_STEP, message, "see its output, or leave it out with --direct", process.output.text())


def _serve(engine: Engine, ends: contextlib.ExitStack, server: ModelServer | Tap) -> None:
    engine.call(server.start(), _CALL_SECONDS)
    ends.callback(lambda: engine.call(server.stop(), _CALL_SECONDS))
