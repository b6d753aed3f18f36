"""JSON as it goes over the wire: ASCII only.

Text of models and clients may hold what UTF-8 cannot (unpaired surrogates), and U+2028, at which many clients
wrongly split the lines of a stream; escaped, both arrive whole.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from starlette.responses import Response


def json_response(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """An answer with `value` as its body."""
    return Response(json.dumps(value).encode("ascii"), status, headers, "application/json")


def encode_event(value: Any) -> bytes:
    """A server-sent event with `value` as its data."""
    return b"data: " + json.dumps(value).encode("ascii") + b"\n\n"
