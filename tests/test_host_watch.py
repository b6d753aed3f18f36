from __future__ import annotations

import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from harness.engine import Engine
from harness.host_watch import HostWatch


@pytest.fixture
def watch(engine: Engine) -> Iterator[HostWatch]:
    watch = HostWatch()
    engine.call(watch.start(), 5)
    yield watch
    engine.call(watch.stop(), 5)


def ask(watch: HostWatch, line: str) -> bytes:
    proxy = urlsplit(watch.environment["HTTPS_PROXY"])
    assert proxy.hostname is not None
    with socket.create_connection((proxy.hostname, proxy.port or 0), 5) as connection:
        connection.sendall(line.encode() + b"\r\n\r\n")
        return connection.recv(100)


def test_hosts_are_noted_and_refused(watch: HostWatch) -> None:
    assert ask(watch, "CONNECT b.example:443 HTTP/1.1").startswith(b"HTTP/1.1 502")
    ask(watch, "CONNECT b.example:443 HTTP/1.1")
    ask(watch, "GET http://a.example/path HTTP/1.1")
    assert watch.hosts == ("a.example", "b.example")


def test_what_is_no_request_is_passed_over(watch: HostWatch) -> None:
    ask(watch, "")
    assert watch.hosts == ()


def test_loopback_is_excepted_in_both_letter_cases(watch: HostWatch) -> None:
    assert watch.environment["NO_PROXY"] == watch.environment["no_proxy"] == "127.0.0.1,localhost"


def test_a_package_registry_goes_by_one_name(watch: HostWatch) -> None:
    ask(watch, "CONNECT registry.packages.example:443 HTTP/1.1")
    assert watch.hosts == ("package-registry",)
