"""The other hosts that a run asks for. They are asked for at a proxy on loopback only, and never reached."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from harness.fakes.kilo.rules import Rules

_SECONDS = 2.0


def ask_around(rules: Rules, settings: Mapping[str, Any], env: Mapping[str, str]) -> None:
    """Ask for the hosts that this version asks for with these settings."""
    proxy = urlsplit(env.get("HTTPS_PROXY") or env.get("https_proxy") or "")
    if proxy.hostname != "127.0.0.1":
        return
    for host in _hosts(rules, settings, env):
        try:
            with socket.create_connection((proxy.hostname, proxy.port or 80), _SECONDS) as connection:
                connection.sendall(f"CONNECT {host}:443 HTTP/1.1\r\nHost: {host}:443\r\n\r\n".encode())
                connection.recv(1)
        except OSError:
            continue


def telemetry_is_on(env: Mapping[str, str]) -> bool:
    """Whether telemetry is sent."""
    return env.get("KILO_TELEMETRY_LEVEL") != "off"


def _hosts(rules: Rules, settings: Mapping[str, Any], env: Mapping[str, str]) -> Iterator[str]:
    yield from rules.hosts["always"]
    if "enabled_providers" not in settings:
        yield from rules.hosts["gateway"]
    if env.get("KILO_DISABLE_MODELS_FETCH") != "1":
        yield from rules.hosts["catalogue"]
    if telemetry_is_on(env):
        yield from rules.hosts["telemetry"]
