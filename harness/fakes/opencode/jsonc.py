"""JSON with comments and with commas behind the last item, as opencode's configuration may be written."""

from __future__ import annotations

import json
import re
from typing import Any

_TEXT = r'"(?:\\.|[^"\\])*"'
_COMMENT = re.compile(rf"({_TEXT})|//[^\n]*|/\*.*?\*/", re.DOTALL)
_LAST_COMMA = re.compile(rf"({_TEXT})|,(?=\s*[}}\]])", re.DOTALL)


def parsed(text: str) -> Any:
    """The value; raises ValueError where the text is none."""
    return json.loads(_without(_LAST_COMMA, _without(_COMMENT, text)))


def _without(pattern: re.Pattern[str], text: str) -> str:
    return pattern.sub(lambda match: match[1] or " ", text)
