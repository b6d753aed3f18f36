"""What turnproof asks of the `npm` command: which versions there are, and one package's tarball, checked.

The registry is talked to only through `npm`, so that a user's mirrors, proxies and credentials are obeyed.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.errors import HarnessError, UsageError
from harness.supervised import StartFailed, Supervised

_QUIET = ("--loglevel=error", "--logs-max=0", "--no-update-notifier")
_LAST_LINES = 20
_HINT = "Try `npm ping`: the registry must be reachable with npm's own configuration (registry, proxy)."
# Strongest first: by the rules of Subresource Integrity the strongest one present decides.
_ALGORITHMS = ("sha512", "sha384", "sha256")


class NotInRegistry(Exception):
    """npm answered that there is no such package, or no such version of it."""


@dataclass(frozen=True)
class Npm:
    """The `npm` command, with a scratch folder that takes its cache and the moment by which it must be done.

    `deadline` is one of `time.monotonic`. What every method raises: `UsageError` when npm is not installed,
    `HarnessError` with npm's last lines when it fails or does not finish in time, `NotInRegistry`.
    """

    scratch: Path
    deadline: float

    def integrity(self, package: str, version: str) -> str:
        """Return the integrity string that the registry gives for one version."""
        answer = self._run("view", f"{package}@{version}", "dist.integrity", "--json")
        if not answer.strip():
            raise NotInRegistry
        return str(json.loads(answer))

    def versions(self, package: str) -> list[str]:
        """Return the versions in the registry, in npm's order."""
        answer = json.loads(self._run("view", package, "versions", "--json"))
        return [answer] if isinstance(answer, str) else answer

    def tarball(self, package: str, version: str, integrity: str) -> Path:
        """Return the downloaded tarball; raises `HarnessError` when it is not what `integrity` says."""
        folder = self.scratch / "pack"
        folder.mkdir()
        self._run("pack", f"{package}@{version}", "--pack-destination", str(folder), "--json")
        found = list(folder.glob("*.tgz"))
        if len(found) != 1:
            raise HarnessError(f"npm pack {package}@{version} left {len(found)} tarballs instead of one", _HINT)
        if not matches_integrity(found[0], integrity):
            raise HarnessError(
                f"the downloaded {package}@{version} is not what the registry says it is ({integrity})",
                "Nothing was kept. Fetch again; if it stays so, look at the mirror or proxy that npm uses.",
            )
        return found[0]

    def _run(self, *arguments: str) -> str:
        """Return what npm wrote on its standard output."""
        npm = shutil.which("npm")
        if npm is None:
            raise UsageError("npm is not installed", "Install Node.js with npm, or give the binary's path.")
        said = f"npm {' '.join(arguments[:2])}"
        out = self.scratch / "npm.out"
        argv = [npm, *arguments, "--cache", str(self.scratch / "npm-cache"), *_QUIET]
        try:
            process = Supervised.start(argv, env=os.environ, cwd=Path.cwd(), name="npm", stdout=out)
        except StartFailed as error:
            raise UsageError(f"npm cannot be started: {error.reason}", "Mend the npm installation.") from error
        with process:
            status = process.wait(max(0.0, self.deadline - time.monotonic()))
        words = "\n".join(process.output.text().splitlines()[-_LAST_LINES:])
        answer = out.read_text(encoding="utf-8", errors="replace")
        if status is None:
            raise HarnessError(f"{said} did not finish in time\n{words}".rstrip(), _HINT)
        if status != 0:
            if _error_code(answer) == "E404":
                raise NotInRegistry
            raise HarnessError(f"{said} failed with exit status {status}\n{words}".rstrip(), _HINT)
        return answer


def matches_integrity(file: Path, integrity: str) -> bool:
    """Return whether a file has one of the digests that a Subresource Integrity string allows.

    Only the strongest algorithm present counts (W3C Subresource Integrity, 3.3.3); a string without an
    algorithm of the SHA-2 family matches nothing.
    """
    allowed: dict[str, set[str]] = {}
    for item in integrity.split():
        algorithm, _, digest = item.partition("?")[0].partition("-")
        allowed.setdefault(algorithm, set()).add(digest)
    strongest = next((algorithm for algorithm in _ALGORITHMS if algorithm in allowed), None)
    if strongest is None:
        return False
    with file.open("rb") as stream:
        found = hashlib.file_digest(stream, strongest).digest()
    return base64.b64encode(found).decode() in allowed[strongest]


def _error_code(answer: str) -> str | None:
    """Return the code in the error object that npm writes with --json."""
    try:
        error: Any = json.loads(answer)["error"]
        return str(error["code"])
    except (ValueError, KeyError, TypeError):
        return None
