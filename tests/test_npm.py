from __future__ import annotations

import base64
import hashlib
from pathlib import Path

import pytest

from harness.npm import matches_integrity


def sri(data: bytes, algorithm: str = "sha512") -> str:
    return f"{algorithm}-{base64.b64encode(hashlib.new(algorithm, data).digest()).decode()}"


@pytest.mark.parametrize(
    ("integrity", "matches"),
    [
        (sri(b"it"), True),
        (sri(b"it", "sha256"), True),
        (sri(b"it", "sha384") + "?option", True),
        (f"{sri(b'other')} {sri(b'it')}", True),
        (f"{sri(b'other')} {sri(b'it', 'sha256')}", False),
        (f"{sri(b'it')} {sri(b'other', 'sha256')}", True),
        (sri(b"it", "sha1"), False),
        ("", False),
    ],
)
def test_integrity_follows_the_strongest_algorithm(tmp_path: Path, integrity: str, matches: bool) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"it")
    assert matches_integrity(file, integrity) is matches
