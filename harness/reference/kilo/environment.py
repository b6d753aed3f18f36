"""The environment of a run: of its own, and aimed at the model server."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from harness.reference.kilo.config import Config
from harness.reference.kilo.settings import PLACEHOLDER

_NOT_INHERITED = ("KILO_", "KILOCODE_", "OPENCODE_", "OPENAI_")
_QUIET = {"KILO_TELEMETRY_LEVEL": "off", "KILO_DISABLE_MODELS_FETCH": "1", "KILO_DISABLE_AUTOUPDATE": "1"}
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def build_environment(config: Config, base_url: str | None, home: Path, inherited: Mapping[str, str]) -> dict[str, str]:
    """The variables of a run whose home is `home`.

    Nothing that steers Kilo or names a provider is inherited; the configuration's own `env` is added, and the folders,
    the database and the address of the model server are ours whatever it says.
    """
    kept = {name: value for name, value in inherited.items() if not name.startswith(_NOT_INHERITED)}
    env = {**kept, **_QUIET, **_openai(config.openai_base_url, config.openai_api_key), **config.env}
    if base_url is not None:
        env |= _openai(base_url, PLACEHOLDER)
    return {**env, **_isolation(home), **_without_proxy(env, base_url)}


def folders(home: Path) -> dict[str, Path]:
    """The folders of a run, by the variables that name them."""
    names = {"CONFIG": "config", "DATA": "data", "CACHE": "cache", "STATE": "state"}
    xdg = {f"XDG_{name}_HOME": home / folder for name, folder in names.items()}
    return {"HOME": home, "TMPDIR": home / "tmp", **xdg}


def _isolation(home: Path) -> dict[str, str]:
    return {"KILO_DB": ":memory:", "KILO_NO_DAEMON": "1"} | {name: str(path) for name, path in folders(home).items()}


def _openai(url: str | None, key: str | None) -> dict[str, str]:
    given = {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": key}
    return {name: value for name, value in given.items() if value is not None}


def _without_proxy(env: Mapping[str, str], base_url: str | None) -> dict[str, str]:
    """No proxy for the model server, whose calls hold a key, nor for this machine."""
    host = urlsplit(base_url).hostname if base_url is not None else None
    named = [name for variable in ("NO_PROXY", "no_proxy") for name in env.get(variable, "").split(",")]
    hosts = ",".join(dict.fromkeys(name for name in (*named, *_LOOPBACK, host) if name))
    return {"NO_PROXY": hosts, "no_proxy": hosts}
