from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import shutil
import sys
import tarfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.errors import HarnessError, UsageError
from harness.fetch import cache_folder, fetch, platform_suffix, this_platform

SPEC = "opencode@1.2.3"
PACKAGE = f"opencode-{this_platform()}"
FILES = {
    "package/package.json": "{}",
    "package/bin/opencode": "#!/bin/sh\necho 1.2.3\n",
    "package/bin/parts/more": "more",
}
NPM = """#!{python}
import json, os, pathlib, shutil, sys, time
home = pathlib.Path(__file__).parent.parent
with open(home / "calls", "a") as calls:
    calls.write(str(os.getpid()) + " " + " ".join(sys.argv[1:]) + "\\n")
registry = json.loads((home / "registry.json").read_text())
if registry["mood"] == "hangs":
    time.sleep(600)
if registry["mood"] == "offline":
    print("npm error code ECONNREFUSED\\nnpm error connect refused", file=sys.stderr)
    print(json.dumps({{"error": {{"code": "ECONNREFUSED"}}}}))
    sys.exit(1)
command, wanted = sys.argv[1:3]
package, _, version = wanted[1:].partition("@")
package = wanted[0] + package
known = registry["packages"].get(package, {{}})
if not known or (version and version not in known):
    print(json.dumps({{"error": {{"code": "E404", "summary": "No match found"}}}}))
    sys.exit(1)
if command == "pack":
    folder = sys.argv[sys.argv.index("--pack-destination") + 1]
    shutil.copy(home / known[version]["tarball"], folder)
elif sys.argv[3] == "versions":
    print(json.dumps(list(known)))
else:
    print(json.dumps(known[version]["integrity"]))
"""


def tarball(files: Mapping[str, str]) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    return stream.getvalue()


PACKED = tarball(FILES)


def sri(data: bytes) -> str:
    return f"sha512-{base64.b64encode(hashlib.sha512(data).digest()).decode()}"


@dataclass(frozen=True)
class FakeNpm:
    """An `npm` that serves what it is told to, and notes how it was called."""

    home: Path

    def serve(self, data: bytes, *, integrity: str | None = None, mood: str = "fine") -> None:
        (self.home / "it.tgz").write_bytes(data)
        one = {"integrity": integrity or sri(data), "tarball": "it.tgz"}
        self._write({PACKAGE: {"1.2.3": one}}, mood)

    def list_versions(self, versions: Sequence[str]) -> None:
        self._write({PACKAGE: {version: {} for version in versions}}, "fine")

    def calls(self) -> list[str]:
        log = self.home / "calls"
        return log.read_text().splitlines() if log.exists() else []

    def _write(self, packages: object, mood: str) -> None:
        (self.home / "registry.json").write_text(json.dumps({"packages": packages, "mood": mood}))


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TURNPROOF_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def npm(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> FakeNpm:
    assert cache == cache_folder()
    home = tmp_path / "npm"
    (home / "bin").mkdir(parents=True)
    command = home / "bin" / "npm"
    command.write_text(NPM.format(python=sys.executable))
    command.chmod(0o755)
    monkeypatch.setenv("PATH", str(command.parent), prepend=":")
    fake = FakeNpm(home)
    fake.serve(PACKED)
    return fake


def kept(cache: Path) -> list[Path]:
    return [path for path in cache.rglob("*") if path.is_file()]


@pytest.mark.usefixtures("npm")
def test_fetch_returns_the_binary_in_the_cache_folder(cache: Path) -> None:
    assert fetch(SPEC) == cache / "opencode" / f"1.2.3-{this_platform()}" / "bin" / "opencode"


@pytest.mark.usefixtures("npm")
def test_fetched_binary_is_the_packages() -> None:
    assert fetch(SPEC).read_text() == FILES["package/bin/opencode"]


@pytest.mark.usefixtures("npm")
def test_fetched_binary_is_executable() -> None:
    assert fetch(SPEC).stat().st_mode & 0o777 == 0o755


@pytest.mark.usefixtures("npm")
def test_what_lies_beside_the_binary_comes_along() -> None:
    assert (fetch(SPEC).parent / "parts" / "more").read_text() == "more"


@pytest.mark.usefixtures("npm")
def test_only_the_bin_folder_and_the_origin_are_kept(cache: Path) -> None:
    folder = fetch(SPEC).parent.parent
    assert {path.relative_to(folder).as_posix() for path in kept(cache)} == {
        "bin/opencode",
        "bin/parts/more",
        "origin.json",
    }


@pytest.mark.usefixtures("npm")
def test_origin_says_where_the_binary_came_from() -> None:
    binary = fetch(SPEC)
    assert json.loads((binary.parent.parent / "origin.json").read_text()) == {
        "package": PACKAGE,
        "version": "1.2.3",
        "integrity": sri(PACKED),
        "sha256": hashlib.sha256(binary.read_bytes()).hexdigest(),
    }


@pytest.mark.usefixtures("npm")
def test_steps_are_said() -> None:
    said: list[str] = []
    binary = fetch(SPEC, say=said.append)
    assert said == [
        f"asking npm for {PACKAGE}@1.2.3",
        f"downloading {PACKAGE}@1.2.3",
        f"unpacking {PACKAGE}@1.2.3",
        f"{SPEC} is ready: {binary}",
    ]


def test_binary_in_the_cache_needs_no_npm(npm: FakeNpm) -> None:
    first = fetch(SPEC)
    before = npm.calls()
    assert fetch(SPEC) == first
    assert npm.calls() == before


@pytest.mark.usefixtures("npm")
def test_damaged_binary_is_fetched_again() -> None:
    binary = fetch(SPEC)
    binary.write_text("damaged")
    assert fetch(SPEC).read_text() == FILES["package/bin/opencode"]


@pytest.mark.usefixtures("npm")
@pytest.mark.parametrize("origin", [None, "", "[]", "{}"], ids=["missing", "empty", "list", "no digest"])
def test_binary_without_its_origin_is_fetched_again(origin: str | None) -> None:
    file = fetch(SPEC).parent.parent / "origin.json"
    good = file.read_text()
    file.unlink()
    if origin is not None:
        file.write_text(origin)
    fetch(SPEC)
    assert file.read_text() == good


@pytest.mark.usefixtures("npm")
def test_two_fetches_at_once_both_return_an_intact_binary(cache: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        binaries = list(pool.map(fetch, [SPEC, SPEC]))
    assert [binary.read_text() for binary in binaries] == [FILES["package/bin/opencode"]] * 2
    assert len(kept(cache)) == 3


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("opencode", "not NAME@VERSION: 'opencode'"),
        ("", "not NAME@VERSION: ''"),
        ("@1.2.3", "unknown binary: ''"),
        ("opencode@", "no version of opencode: ''"),
        ("opencode@latest", "no version of opencode: 'latest'"),
        ("opencode@1.2", "no version of opencode: '1.2'"),
        ("opencode@1.2.3/x", "no version of opencode: '1.2.3/x'"),
    ],
)
def test_malformed_spec_is_refused(spec: str, told: str) -> None:
    with pytest.raises(UsageError) as caught:
        fetch(spec)
    assert caught.value.message == told


def test_unknown_name_lists_the_known() -> None:
    with pytest.raises(UsageError) as caught:
        fetch("codex@1.2.3")
    assert caught.value.hint == "Names: kilo, opencode."


def test_missing_version_names_those_there_are(npm: FakeNpm) -> None:
    npm.list_versions(["1.0.0-rc.1", "1.0.0", "1.10.0", "1.9.0"])
    with pytest.raises(UsageError) as caught:
        fetch(SPEC)
    assert caught.value.hint == "It has 1.10.0, 1.9.0, 1.0.0, 1.0.0-rc.1."


def test_missing_version_names_at_most_twenty(npm: FakeNpm) -> None:
    npm.list_versions([f"2.0.{number}" for number in range(25)])
    with pytest.raises(UsageError) as caught:
        fetch(SPEC)
    assert caught.value.hint.endswith("2.0.6, 2.0.5 and 5 more.")


@pytest.mark.usefixtures("npm")
def test_missing_package_is_said() -> None:
    with pytest.raises(UsageError, match=f"the registry has no package @kilocode/cli-{this_platform()}"):
        fetch("kilo@1.2.3")


def test_tarball_that_is_not_what_the_registry_says_is_refused(npm: FakeNpm, cache: Path) -> None:
    npm.serve(PACKED, integrity=sri(b"other"))
    with pytest.raises(HarnessError, match="is not what the registry says"):
        fetch(SPEC)
    assert kept(cache) == []


@pytest.mark.parametrize(
    "name", ["package/bin/../../../evil", "package/../../evil", "../evil", "../../evil/bin/opencode"]
)
def test_tarball_that_reaches_out_of_its_folder_is_refused(npm: FakeNpm, cache: Path, name: str) -> None:
    npm.serve(tarball({**FILES, name: "evil"}))
    with pytest.raises(HarnessError, match="cannot be unpacked"):
        fetch(SPEC)
    assert kept(cache) == []


def test_link_in_the_bin_folder_is_refused(npm: FakeNpm) -> None:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        link = tarfile.TarInfo("package/bin/opencode")
        link.type, link.linkname = tarfile.SYMTYPE, "../bin/sh"
        archive.addfile(link)
    npm.serve(stream.getvalue())
    with pytest.raises(HarnessError, match="neither a file nor a folder"):
        fetch(SPEC)


@pytest.mark.parametrize(
    "data",
    [b"no tarball", PACKED[:-40], tarball({"package/bin/other": ""})],
    ids=["other", "cut", "empty"],
)
def test_package_without_a_usable_binary_is_refused(npm: FakeNpm, cache: Path, data: bytes) -> None:
    npm.serve(data)
    with pytest.raises(HarnessError, match="cannot be unpacked"):
        fetch(SPEC)
    assert kept(cache) == []


@pytest.mark.usefixtures("cache")
def test_missing_npm_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="npm is not installed"):
        fetch(SPEC)


def test_failure_of_npm_is_told_in_its_own_words(npm: FakeNpm) -> None:
    npm.serve(b"", mood="offline")
    with pytest.raises(HarnessError, match="connect refused"):
        fetch(SPEC)


def test_npm_that_hangs_is_ended_at_the_deadline(npm: FakeNpm) -> None:
    npm.serve(b"", mood="hangs")
    with pytest.raises(HarnessError, match="did not finish in time"):
        fetch(SPEC, seconds=1)
    (call,) = npm.calls()
    with pytest.raises(ProcessLookupError):
        os.kill(int(call.split()[0]), 0)


@pytest.mark.usefixtures("npm")
def test_cache_folder_that_cannot_be_written_is_said(cache: Path) -> None:
    cache.write_text("a file")
    with pytest.raises(UsageError, match="cannot be used"):
        fetch(SPEC)


@pytest.mark.usefixtures("npm")
def test_cache_folder_without_its_binary_is_fetched_again() -> None:
    shutil.rmtree(fetch(SPEC).parent)
    assert fetch(SPEC).exists()


@pytest.mark.parametrize(
    ("system", "machine", "has_avx2", "has_musl", "suffix"),
    [
        ("Linux", "x86_64", True, False, "linux-x64"),
        ("Linux", "x86_64", False, False, "linux-x64-baseline"),
        ("Linux", "x86_64", False, True, "linux-x64-baseline-musl"),
        ("Linux", "x86_64", True, True, "linux-x64-musl"),
        ("Linux", "aarch64", False, False, "linux-arm64"),
        ("Linux", "aarch64", False, True, "linux-arm64-musl"),
        ("Darwin", "arm64", True, False, "darwin-arm64"),
        ("Darwin", "x86_64", True, False, "darwin-x64"),
    ],
)
def test_platform_suffix(system: str, machine: str, has_avx2: bool, has_musl: bool, suffix: str) -> None:
    assert platform_suffix(system, machine, has_avx2=has_avx2, has_musl=has_musl) == suffix


@pytest.mark.parametrize(("system", "machine"), [("Windows", "AMD64"), ("Linux", "riscv64")])
def test_platform_without_binaries_is_refused(system: str, machine: str) -> None:
    with pytest.raises(UsageError, match=f"{system} {machine}"):
        platform_suffix(system, machine, has_avx2=True, has_musl=False)
