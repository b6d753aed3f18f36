"""The transcript in the README: `python -m tests.docs.transcript` makes it anew."""

from __future__ import annotations

import re
import shlex
import tempfile
from pathlib import Path

from tests.docs.pages import ROOT
from tests.running import turnproof

README = ROOT / "README.md"
_BLOCK = re.compile(r"(?<=```console\n)\$ (turnproof run --target mutant:[^\n]+)\n\n(.*?)(?=```)", re.DOTALL)
_CHANGING = (
    (r"chatcmpl-[0-9a-f]+", "chatcmpl-0"),
    (r'"created": \d+', '"created": 0'),
    (r"\btp[a-z]{20}\b", "tp0"),
    (r"in \d+ ms", "in 0 ms"),
    (r" +\d+ ms  ", " 0 ms  "),
    (r"\bses_\w+", "ses_0"),
    (r"date: [^\n]+", "date: 0"),
    (r"#\d+", "#0"),
)


def written() -> str:
    """The transcript as the README has it."""
    found = _BLOCK.search(README.read_text(encoding="utf-8"))
    assert found is not None
    return found[2]


def made() -> str:
    """The transcript of its command, made now."""
    found = _BLOCK.search(README.read_text(encoding="utf-8"))
    assert found is not None
    with tempfile.TemporaryDirectory() as folder:
        told = turnproof(*shlex.split(found[1])[1:], cwd=Path(folder), env={"COLUMNS": "100", "NO_COLOR": "1"})
    lines = [line.rstrip() for line in told.stdout.strip("\n").splitlines()]
    return "\n".join(lines) + "\n"


def steady(text: str) -> str:
    """A transcript without what is another in each run."""
    for pattern, word in _CHANGING:
        text = re.sub(pattern, word, text)
    return text


if __name__ == "__main__":
    new = made()
    text = README.read_text(encoding="utf-8")
    README.write_text(_BLOCK.sub(lambda match: f"$ {match[1]}\n\n{new}", text), encoding="utf-8")
