from __future__ import annotations

import pytest

from harness.literal_secrets import is_secret, masked
from harness.toml_lines import KeyPath

SHAPED = [
    "sk-proj-abcdefgh1234",
    "ghp_abcdefgh1234",
    "github_pat_abcdefgh1234",
    "xoxb-12345678-abc",
    "AKIA" + "ABCDEFGHIJKLMNOP",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
    "Bearer abcdefghijklmnop",
    "prefix sk-abcdefgh1234",
]


@pytest.mark.parametrize("value", SHAPED)
def test_a_known_shape_is_a_secret_anywhere(value: str) -> None:
    assert is_secret(("name",), value)


@pytest.mark.parametrize("value", SHAPED)
def test_a_known_shape_is_masked(value: str) -> None:
    assert masked(f'"{value}" is wrong').removeprefix('"prefix ').lstrip('"') == '[secret]" is wrong'


@pytest.mark.parametrize(
    "path",
    [
        ("start", "env", "API_KEY"),
        ("start", "env", "API_KEYS"),
        ("start", "env", "PASSWORD_1"),
        ("start", "env", "SECRET_KEY_BASE"),
        ("keys", 0, "mint", "headers", "X-Api-Key"),
        ("keys", 0, "mint", "headers", "authorization"),
        ("keys", 0, "mint", "headers", "Cookie"),
        ("keys", 0, "mint", "body", "accessToken"),
        ("keys", 0, "mint", "body", "apikey"),
        ("keys", 0, "revoke", "body", "credentials", "value", 0),
    ],
)
def test_a_literal_under_a_secret_name_is_a_secret(path: KeyPath) -> None:
    assert is_secret(path, "hunter22")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("start", "env", "API_KEY"), "hunter2"),
        (("start", "env", "API_KEY"), "{env:SOME_KEY}"),
        (("keys", 0, "mint", "headers", "Authorization"), "Bearer {env:OWNER_TOKEN}"),
        (("start", "env", "TOKENIZERS_PARALLELISM"), "sometimes"),
        (("start", "env", "TOKEN_FILE"), "/run/token"),
        (("keys", 0, "name"), "the main key"),
        (("keys", 0, "mint", "path"), "/api/agent-model-keys"),
        (("keys", 0, "mint", "body", "key_name"), "a long name"),
        (("start", "command", 2), "--token-file=tokens.txt"),
        (("agents", 0, "id"), "task-force-of-agents"),
    ],
)
def test_what_is_short_or_a_placeholder_or_named_otherwise_is_no_secret(path: KeyPath, value: str) -> None:
    assert not is_secret(path, value)
