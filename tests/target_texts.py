"""Pieces of which tests put target files together."""

from __future__ import annotations

from pathlib import Path

HEAD = 'kind = "agent-endpoint"\nname = "n"\n'
AGENT_HEAD = 'kind = "kilo-agent"\nname = "n"\n'
MODEL_HEAD = 'kind = "model-server"\nname = "n"\n'
URL = 'url = "http://h"\n'
START = '[start]\ncommand = ["run"]\n'
AGENT = '[[agents]]\nid = "a"\n'
KEY_HEAD = '[[keys]]\nname = "main"\nstate = "valid"\nagents = ["a"]\n'
KEY = KEY_HEAD + 'env = "MY_KEY"\n'
MINT = '[keys.mint]\npath = "/keys"\npointer = "/key"\n'
MINTING = '[mint]\npath = "/keys"\npointer = "/key"\nheaders = {}\n'
REVOKED = KEY + '[[keys]]\nname = "old"\nstate = "revoked"\nagents = ["a"]\n'

SIGNATURE = "0123456789abcdef"
WAIVER = (
    '[[waivers]]\nrequirement = "AE-AUTH-1"\nowner = "Jo"\nreason = "r"\nlink = "https://h/1"\n'
    f'until = 2026-12-31\nsignature = "{SIGNATURE}"\n'
)


def write(folder: Path, text: str) -> Path:
    """The path of a target file of that text."""
    path = folder / "my.toml"
    path.write_bytes(text.encode())
    return path
