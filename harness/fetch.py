"""Real binaries by exact version, from npm into a cache folder.

The layout is `<cache>/<name>/<version>-<platform>/`: `bin/` as it is in the package, and `origin.json`, which
says where it came from and what the binary's digest was.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import tarfile
import tempfile
import time
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import platformdirs

from harness.errors import HarnessError, UsageError
from harness.npm import NotInRegistry, Npm

# The meta packages `opencode-ai` and `@kilocode/cli` only pick one of these platform packages.
_PACKAGES = {"kilo": "@kilocode/cli", "opencode": "opencode"}
_VERSION = re.compile(r"\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?")
_SYSTEMS = {"Linux": "linux", "Darwin": "darwin"}
_PROCESSORS = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}
_NAMED_VERSIONS = 20


def fetch(spec: str, *, say: Callable[[str], None] = lambda _: None, seconds: float = 600.0) -> Path:
    """Return the path of a binary, such as that of `opencode@1.18.33`, fetched unless the cache has it.

    `say` is told each step; npm must be done within `seconds`. Raises `UsageError` for a spec, platform or
    version that cannot be had, and `HarnessError` when the download fails or is not what it should be.
    """
    name, version = parse_spec(spec)
    suffix = this_platform()
    folder = cache_folder() / name / f"{version}-{suffix}"
    binary = folder / "bin" / name
    if is_intact(folder, name):
        return binary
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".fetch-", dir=folder.parent) as scratch:
            _fetch_into(folder, name, version, f"{_PACKAGES[name]}-{suffix}", Path(scratch), say, seconds)
    except OSError as error:
        raise UsageError(
            f"the cache folder {cache_folder()} cannot be used: {error}",
            "Set TURNPROOF_CACHE to another one.",
        ) from error
    say(f"{spec} is ready: {binary}")
    return binary


def parse_spec(spec: str) -> tuple[str, str]:
    """Return name and version of a spec."""
    known = ", ".join(_PACKAGES)
    name, at, version = spec.partition("@")
    if not at:
        raise UsageError(f"not NAME@VERSION: {spec!r}", f"Write, say, opencode@1.18.33. Names: {known}.")
    if name not in _PACKAGES:
        raise UsageError(f"unknown binary: {name!r}", f"Names: {known}.")
    if _VERSION.fullmatch(version) is None:
        hint = f"A version is three numbers, as in 1.18.33; the option --{name} also takes real and stand-in."
        raise UsageError(f"no version of {name}: {version!r}", hint)
    return name, version


def cache_folder() -> Path:
    """Return where binaries are kept: `TURNPROOF_CACHE`, or the user's cache folder."""
    given = os.environ.get("TURNPROOF_CACHE")
    return Path(given).absolute() if given else platformdirs.user_cache_path("turnproof")


def this_platform() -> str:
    """Return the suffix of the platform packages for this machine; raises `UsageError` if there is none."""
    system, machine = platform.system(), platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    has_avx2 = system != "Linux" or " avx2" in cpuinfo.read_text(encoding="utf-8", errors="replace")
    has_musl = system == "Linux" and platform.libc_ver()[0] != "glibc"
    return platform_suffix(system, machine, has_avx2=has_avx2, has_musl=has_musl)


def platform_suffix(system: str, machine: str, *, has_avx2: bool, has_musl: bool) -> str:
    """Return the suffix, such as `linux-x64-musl`, for a system and machine as `platform` names them.

    `baseline` packages are for x64 processors without AVX2.
    """
    processor = _PROCESSORS.get(machine.lower())
    if system not in _SYSTEMS or processor is None:
        raise UsageError(
            f"there are no binaries that turnproof can run on {system} {machine}",
            "Use Linux or macOS on x86-64 or arm64.",
        )
    baseline = "-baseline" if processor == "x64" and not has_avx2 else ""
    return f"{_SYSTEMS[system]}-{processor}{baseline}{'-musl' if has_musl else ''}"


def is_intact(folder: Path, name: str) -> bool:
    """Return whether a cache folder holds the binary that its `origin.json` tells of."""
    try:
        origin = json.loads((folder / "origin.json").read_bytes())
        return bool(origin["sha256"] == _sha256(folder / "bin" / name))
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _fetch_into(
    folder: Path,
    name: str,
    version: str,
    package: str,
    scratch: Path,
    say: Callable[[str], None],
    seconds: float,
) -> None:
    npm = Npm(scratch, time.monotonic() + seconds)
    say(f"asking npm for {package}@{version}")
    try:
        integrity = npm.integrity(package, version)
    except NotInRegistry:
        raise _missing_version(npm, package, version) from None
    say(f"downloading {package}@{version}")
    tarball = npm.tarball(package, version, integrity)
    say(f"unpacking {package}@{version}")
    fresh = scratch / "fresh"
    _unpack(tarball, fresh, name)
    origin = {
        "package": package,
        "version": version,
        "integrity": integrity,
        "sha256": _sha256(fresh / "bin" / name),
    }
    (fresh / "origin.json").write_text(json.dumps(origin, indent=2) + "\n", encoding="utf-8")
    _publish(fresh, folder, name, scratch)


def _missing_version(npm: Npm, package: str, version: str) -> UsageError:
    try:
        versions = sorted(npm.versions(package), key=_version_order, reverse=True)
    except NotInRegistry:
        return UsageError(f"the registry has no package {package}", "There is no such binary for this platform.")
    more = len(versions) - _NAMED_VERSIONS
    newest = ", ".join(versions[:_NAMED_VERSIONS]) + (f" and {more} more" if more > 0 else "")
    return UsageError(f"the registry has no {package}@{version}", f"It has {newest}.")


def _version_order(version: str) -> tuple[list[int], bool, str]:
    """Return a sort key: by number, and a release after its pre-releases."""
    release, _, rest = version.partition("-")
    return [int(part) for part in re.findall(r"\d+", release)], not rest, rest


def _unpack(tarball: Path, folder: Path, name: str) -> None:
    """Extract the package's `bin` folder; raises `HarnessError` for a tarball that reaches beyond its own."""
    folder.mkdir()
    try:
        with tarfile.open(tarball) as archive:
            for member in archive:
                tarfile.data_filter(member, str(folder))
                inside = member.name.partition("/")[2]
                if inside.startswith("bin/"):
                    if not (member.isfile() or member.isdir()):
                        raise tarfile.ExtractError(f"{member.name} is neither a file nor a folder")
                    archive.extract(member.replace(name=inside), folder, filter="data")
        (folder / "bin" / name).chmod(0o755)
    except (tarfile.TarError, zlib.error, EOFError, OSError) as error:
        raise HarnessError(
            f"the package of {name} cannot be unpacked: {error}",
            "Nothing was kept. See that the disk has room; else the package is broken: take another version.",
        ) from error


def _publish(fresh: Path, folder: Path, name: str, scratch: Path) -> None:
    """Move a fresh folder into its place, where another fetch's or a damaged one may already be."""
    for attempt in range(10):
        with suppress(OSError):
            fresh.rename(folder)
            return
        if is_intact(folder, name):
            return
        with suppress(FileNotFoundError):
            folder.rename(scratch / f"damaged-{attempt}")
    raise HarnessError(f"cannot write {folder}", "Remove that folder, or set TURNPROOF_CACHE to another one.")


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
