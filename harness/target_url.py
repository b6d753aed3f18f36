"""The base URL of a target, as people write it."""

from __future__ import annotations

from urllib.parse import urlsplit

from harness.errors import UsageError

_EXAMPLE = "Write it like http://127.0.0.1:9000."


def base_url(text: str) -> str:
    """Return the http(s) URL `text` without a slash or `/v1` at its end: routes are put behind it.

    Raises UsageError when it is no such URL, or holds a user, a query or a fragment.
    """
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise UsageError("the URL cannot be read: its host or port is malformed", _EXAMPLE) from None
    if parts.username is not None or parts.password is not None:
        raise UsageError("the URL holds a user or password", "Leave them out: a key goes into [[keys]].")
    if parts.scheme not in ("http", "https"):
        raise UsageError("the URL does not begin with http:// or https://", _EXAMPLE)
    if not parts.hostname or port == 0 or any(c.isspace() or c in "{}" for c in text):
        raise UsageError("the URL has no usable host or port", _EXAMPLE)
    if parts.query or parts.fragment:
        raise UsageError("the URL has a query or a fragment", "Leave it out: routes are put behind the URL.")
    return text.rstrip("?#").rstrip("/").removesuffix("/v1").rstrip("/")
