"""What in a target file looks like a secret that was written down instead of taken from the environment."""

from __future__ import annotations

import re

from harness.template import placeholders
from harness.toml_lines import KeyPath

_SHAPES = re.compile(
    r"\bsk-[A-Za-z0-9_-]{8,}"  # OpenAI and the many that copied it
    r"|\bgh[opsur]_[A-Za-z0-9]{8,}|\bgithub_pat_\w{8,}"  # GitHub
    r"|\bxox[a-z]-[A-Za-z0-9-]{8,}"  # Slack
    r"|\bA[KS]IA[0-9A-Z]{12,}"  # AWS
    r"|\beyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]+)*"  # a JSON Web Token: base64url of '{"'
    r"|\b[Bb]earer\s+[A-Za-z0-9._~+/=-]{16,}"
)
_NAME = re.compile(
    r"(?:key|token|secret|password|passwd|passphrase|authorization|cookie|credential)s?\Z", re.IGNORECASE
)
_NAME_OF_SOMETHING_ELSE = frozenset(
    {"name", "type", "id", "ids", "file", "path", "dir", "url", "uri", "pointer", "ttl", "limit"}
)
_SECRET_TABLES = frozenset({"headers", "agent_headers", "env"})
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_SHORTEST = 8


def is_secret(path: KeyPath, value: str) -> bool:
    """Tell whether `value`, written at `path` of a target file, looks like a secret.

    It does by its shape (`sk-…`, `ghp_…`, a JSON Web Token, …) anywhere, and by the name over it (`token`,
    `password`, …) below `keys`, `headers` and `env` when it has 8 characters or more and no placeholder.
    """
    if _SHAPES.search(value):
        return True
    return holds_secrets(path) and len(value) >= _SHORTEST and not placeholders(value)


def masked(text: str) -> str:
    """Return `text` with everything shaped like a secret replaced by `[secret]`."""
    return _SHAPES.sub("[secret]", text)


def holds_secrets(path: KeyPath) -> bool:
    """Tell whether a name on the way to `path` says that secrets stand there."""
    in_scope = path[:1] == ("keys",) or not _SECRET_TABLES.isdisjoint(path)
    return in_scope and any(isinstance(part, str) and _names_secret(part) for part in path[1:])


def _names_secret(name: str) -> bool:
    words = [word.lower() for word in _WORD.findall(name)]
    return any(_NAME.search(word) for word in words) and words[-1] not in _NAME_OF_SOMETHING_ELSE
