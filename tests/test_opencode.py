from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import TargetNotReady
from harness.opencode import config, environment, start


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


def binary(folder: Path, ends: int) -> Path:
    """A server that ends at its first starts, so many, as one does whose port was taken meanwhile."""
    path, count = folder / "opencode", folder / "count"
    path.write_text(
        f"""#!/bin/sh
echo >> {count}
if [ "$(wc -l < {count})" -le {ends} ]; then echo ServeError >&2; exit 1; fi
echo "opencode server listening on http://127.0.0.1:$3"
exec sleep 60
"""
    )
    path.chmod(0o755)
    return path


def test_server_whose_port_was_taken_meanwhile_is_started_once_more(tmp_path: Path) -> None:
    process, url = start(binary(tmp_path, 1), tmp_path, {}, "password")
    with process:
        assert url.startswith("http://127.0.0.1:")


def test_server_that_ends_at_each_start_does_not_come_up(tmp_path: Path) -> None:
    with pytest.raises(TargetNotReady, match="did not come up") as caught:
        start(binary(tmp_path, 9), tmp_path, {}, "password")
    assert "ServeError" in caught.value.log
    assert (tmp_path / "count").read_text().count("\n") == 2
