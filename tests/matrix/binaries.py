"""Stand-ins in the place of fetched binaries: a cache in which `kilo@VERSION` is our stand-in of that version."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from harness.fakes.kilo.shim import write_shim
from harness.fetch import this_platform


def kilo_in(cache: Path, version: str, like: str | None = None) -> None:
    """Put a `kilo@VERSION` into `cache` that behaves as the version `like`, or as its own."""
    folder = cache / "kilo" / f"{version}-{this_platform()}"
    shim = write_shim(folder / "bin")
    (folder / "bin" / "behaviour.json").write_text(json.dumps({"version": like or version}), encoding="utf-8")
    digest = hashlib.sha256(shim.read_bytes()).hexdigest()
    (folder / "origin.json").write_text(json.dumps({"sha256": digest}), encoding="utf-8")
