from __future__ import annotations

from pathlib import Path

import pytest

from harness.opencode import config, environment


def test_every_model_of_a_provider_goes_to_the_model_server() -> None:
    providers = config("http://m/v1", [("a", "x/y"), ("b", "z"), ("a", "w")])["provider"]
    assert {name: list(provider["models"]) for name, provider in providers.items()} == {"a": ["x/y", "w"], "b": ["z"]}
    assert {provider["options"]["baseURL"] for provider in providers.values()} == {"http://m/v1"}


def test_no_other_provider_is_enabled() -> None:
    assert config("http://m/v1", [("b", "z"), ("a", "x")])["enabled_providers"] == ["a", "b"]


def test_nothing_is_shared_or_updated() -> None:
    settings = config("http://m/v1", [])
    assert (settings["share"], settings["autoupdate"]) == ("disabled", False)


def test_no_variable_of_the_user_reaches_the_server_but_path(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENCODE_CONFIG", "HTTP_PROXY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, "of the user")
    monkeypatch.setenv("PATH", "/some/bin")
    env = environment(Path("/home/run"), "password")
    assert "of the user" not in env.values()
    assert (env["PATH"], env["HOME"], env["OPENCODE_SERVER_PASSWORD"]) == ("/some/bin", "/home/run", "password")


def test_all_folders_of_the_server_are_in_its_home() -> None:
    env = environment(Path("/home/run"), "password")
    assert all(value.startswith("/home/run/") for name, value in env.items() if name.startswith("XDG_"))
