"""Folders to work in, removed when the work is done; those of a process that was killed, by the next one.

Who works in a folder holds a lock on it, which the kernel lets go of however the process ends.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

_PREFIX = "turnproof-work-"
_NAME = re.compile(re.escape(_PREFIX) + r"[a-z0-9_]{8}")


@contextlib.contextmanager
def work_folder() -> Iterator[Path]:
    """A new folder, for as long as the context lasts; what killed processes of this user left is removed first."""
    parent = Path(tempfile.gettempdir())
    _remove_abandoned(parent)
    folder, lock = _new(parent)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _new(parent: Path) -> tuple[Path, int]:
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
        # Before it is locked, another process may take it for abandoned.
        with contextlib.suppress(FileNotFoundError):
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            fcntl.flock(lock, fcntl.LOCK_EX)
            if folder.exists():
                return folder, lock
            os.close(lock)


def _remove_abandoned(parent: Path) -> None:
    for folder in parent.glob(f"{_PREFIX}*"):
        # Another user's, one that is worked in, or one that another process is removing.
        with contextlib.suppress(OSError):
            if _NAME.fullmatch(folder.name) and folder.stat(follow_symlinks=False).st_uid == os.getuid():
                _remove(folder)


def _remove(folder: Path) -> None:
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(lock)
