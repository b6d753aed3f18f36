from __future__ import annotations

import contextlib
import os
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.hearing import Hearing
from harness.supervised import Supervised

ECHOES = "import sys\nfor line in open(sys.argv[1]): sys.stderr.write(line); sys.stderr.flush()"


class Speaker:
    """A process that writes what it is told."""

    def __init__(self, pipe: Path) -> None:
        os.mkfifo(pipe)
        command = [sys.executable, "-S", "-c", ECHOES, str(pipe)]
        self.process = Supervised.start(command, env={}, cwd=pipe.parent, name="speaker")
        self._told = pipe.open("w")

    def say(self, text: str) -> None:
        """Have it write `text`, and wait until it has."""
        self._told.write(f"{text}\n")
        self._told.flush()
        assert self.process.wait_for_line(re.compile(text), time.monotonic() + 60)

    def end(self) -> None:
        self._told.close()
        self.process.wait(60)
        self.process.stop()


@pytest.fixture
def speakers(tmp_path: Path) -> Iterator[tuple[Speaker, Speaker]]:
    with contextlib.ExitStack() as ends:
        both = Speaker(tmp_path / "a"), Speaker(tmp_path / "b")
        for speaker in both:
            ends.callback(speaker.end)
        yield both


def heard(*speakers: Speaker) -> Hearing:
    hearing = Hearing()
    for speaker in speakers:
        hearing.add(speaker.process)
    return hearing


def test_process_is_heard_from_its_first_byte(speakers: tuple[Speaker, Speaker]) -> None:
    speakers[0].say("starting")
    assert heard(speakers[0]).text() == "starting\n"


def test_window_holds_what_is_written_in_it(speakers: tuple[Speaker, Speaker]) -> None:
    hearing = heard(*speakers)
    speakers[0].say("before")
    hearing.open_window()
    speakers[1].say("of b")
    speakers[0].say("of a")
    assert hearing.text() == "of a\nof b\n"


def test_process_that_ended_in_a_window_is_heard_in_it_and_no_longer(speakers: tuple[Speaker, Speaker]) -> None:
    hearing = heard(speakers[0])
    speakers[0].say("last words")
    speakers[0].end()
    assert hearing.text() == "last words\n"
    hearing.open_window()
    assert hearing.text() == ""


def test_what_is_written_a_moment_later_is_heard_too(tmp_path: Path) -> None:
    late = "import sys; sys.stderr.write('asked\\n'); sys.stderr.flush(); sys.stderr.write('why\\n')"
    process = Supervised.start([sys.executable, "-S", "-c", late], env={}, cwd=tmp_path, name="late")
    with process:
        hearing = Hearing()
        hearing.add(process)
        assert process.wait_for_line(re.compile("asked"), time.monotonic() + 60)
        assert hearing.text() == "asked\nwhy\n"


def test_without_a_process_nothing_is_heard() -> None:
    assert Hearing().text() == ""
