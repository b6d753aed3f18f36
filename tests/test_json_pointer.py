from __future__ import annotations

from typing import Any

import pytest

from harness.json_pointer import pointed

VALUE = {"a": [{"b": 1}], "": 2, "c/d": 3, "e~f": 4, "n": None}


@pytest.mark.parametrize(
    ("pointer", "found"),
    [("", VALUE), ("/a/0/b", 1), ("/", 2), ("/c~1d", 3), ("/e~0f", 4), ("/n", None)],
)
def test_a_pointer_leads_to_a_part(pointer: str, found: Any) -> None:
    assert pointed(VALUE, pointer) == found


@pytest.mark.parametrize("pointer", ["/x", "/a/1", "/a/b", "/n/x", "/a/0/b/c"])
def test_a_pointer_to_nothing_is_a_lookup_error(pointer: str) -> None:
    with pytest.raises(LookupError):
        pointed(VALUE, pointer)
