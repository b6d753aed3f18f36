from __future__ import annotations

import pytest

from harness.tap_outlet import cut_characters


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("", []),
        ("abc\n", [b"abc\n"]),
        ("a\u00fcb", [b"a\xc3", b"\xbcb"]),
        ("\u4f60\u597d", [b"\xe4", b"\xbd\xa0\xe5", b"\xa5\xbd"]),
        ("\U0001f600", [b"\xf0", b"\x9f\x98\x80"]),
    ],
)
def test_characters_are_cut_after_their_first_byte(text: str, pieces: list[bytes]) -> None:
    assert cut_characters(text.encode()) == pieces
