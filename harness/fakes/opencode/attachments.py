"""What a prompt's parts become when it is taken down: what files and named agents say to the model is spelled out."""

from __future__ import annotations

import binascii
import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote, unquote_to_bytes, urlsplit

Part = dict[str, Any]

_CALLED = "Called the Read tool with the following input: "
_ASKED = " Use the above message and context to generate a prompt and call the task tool with subagent: "


def spelled_out(part: Part) -> list[Part]:
    """The part, with the texts before or behind it that tell the model what it holds."""
    if part["type"] == "agent":
        return [part, _synthetic(_ASKED + str(part["name"]))]
    if part["type"] != "file" or part["mime"] != "text/plain":
        return [part]
    url = urlsplit(str(part.get("url", "")))
    text: str | None
    if url.scheme == "data":
        name, text = part.get("filename"), _of_data(url.path)
    elif url.scheme == "file":
        name, text = unquote(url.path), numbered(Path(unquote(url.path)))
    else:
        return [part]
    called = _CALLED + json.dumps({"filePath": name}, separators=(",", ":"), ensure_ascii=False)
    return [_synthetic(called), *([_synthetic(text)] if text is not None else []), part]


def numbered(path: Path) -> str | None:
    """A file as the model is shown it, None when there is none."""
    if not path.is_file():
        return None
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    shown = "\n".join(f"{number}: {line}" for number, line in enumerate(lines, 1))
    told = f"<path>{path}</path>\n<type>file</type>\n<content>\n{shown}\n\n"
    return f"{told}(End of file - total {len(lines)} lines)\n</content>"


def _of_data(path: str) -> str:
    kind, _, data = path.partition(",")
    raw = binascii.a2b_base64(data) if kind.endswith(";base64") else unquote_to_bytes(data)
    return raw.decode("utf-8", "replace")


def _synthetic(text: str) -> Part:
    return {"type": "text", "text": text, "synthetic": True}
