from __future__ import annotations

import pytest

from harness.errors import UsageError
from harness.target_url import base_url


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("http://127.0.0.1:9000", "http://127.0.0.1:9000"),
        ("http://127.0.0.1:9000/", "http://127.0.0.1:9000"),
        ("http://h/v1", "http://h"),
        ("http://h/v1/", "http://h"),
        ("https://h/agents/v1", "https://h/agents"),
        ("https://h/v1/agents", "https://h/v1/agents"),
        ("http://[::1]:80/v1", "http://[::1]:80"),
        ("HTTP://h", "HTTP://h"),
    ],
)
def test_a_slash_and_v1_at_the_end_are_left_out(text: str, url: str) -> None:
    assert base_url(text) == url


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ftp://h", "the URL does not begin with http:// or https://"),
        ("h:9000", "the URL does not begin with http:// or https://"),
        ("", "the URL does not begin with http:// or https://"),
        ("http://", "the URL has no usable host or port"),
        ("http:/h", "the URL has no usable host or port"),
        ("http://:80", "the URL has no usable host or port"),
        ("http://h:0", "the URL has no usable host or port"),
        ("http://h /", "the URL has no usable host or port"),
        ("http://h:{port}", "the URL cannot be read: its host or port is malformed"),
        ("http://{host}", "the URL has no usable host or port"),
        ("http://h:99999", "the URL cannot be read: its host or port is malformed"),
        ("http://[::1", "the URL cannot be read: its host or port is malformed"),
        ("http://h/?a=b", "the URL has a query or a fragment"),
        ("http://h/#a", "the URL has a query or a fragment"),
    ],
)
def test_what_is_no_base_url_is_a_usage_error(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        base_url(text)
    assert caught.value.message == message
    assert caught.value.hint


def test_a_user_and_password_in_a_url_are_refused_and_not_repeated() -> None:
    with pytest.raises(UsageError) as caught:
        base_url("http://someone:hunter2@h")
    assert caught.value.message == "the URL holds a user or password"
    assert "hunter2" not in caught.value.hint
