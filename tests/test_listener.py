from __future__ import annotations

import os
import socket
import subprocess
import sys

import pytest

from harness.listener import free_port, listens

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="asks the kernel through /proc")


def test_free_port_can_be_listened_on() -> None:
    with socket.create_server(("127.0.0.1", free_port())):
        pass


@pytest.mark.parametrize(
    ("family", "address"),
    [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::")],
)
def test_process_that_listens_is_told(family: socket.AddressFamily, address: str) -> None:
    with socket.create_server((address, 0), family=family) as listener:
        assert listens([os.getpid()], listener.getsockname()[1])


def test_listener_of_another_process_does_not_count() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other,
    ):
        assert listens([other.pid], listener.getsockname()[1]) is False


def test_connected_socket_is_no_listener() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.create_connection(listener.getsockname()) as near:
        assert listens([os.getpid()], near.getsockname()[1]) is False


def test_nobody_listens_on_a_closed_port() -> None:
    assert listens([os.getpid()], free_port()) is False


def test_process_that_is_gone_does_not_listen() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        assert listens([2**22 + 1], listener.getsockname()[1]) is False
