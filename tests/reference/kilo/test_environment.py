from __future__ import annotations

from pathlib import Path

import pytest

from harness.reference.kilo.config import Config
from harness.reference.kilo.environment import build_environment

HOME, URL = Path("/run/home"), "http://models.lan:8/v1"


def test_the_model_server_wins_over_everything_that_names_another() -> None:
    config = Config("m", URL, openai_base_url="http://other", openai_api_key="k", env={"OPENAI_BASE_URL": "http://env"})
    env = build_environment(config, URL, HOME, {"OPENAI_BASE_URL": "http://inherited", "OPENAI_API_KEY": "i"})
    assert (env["OPENAI_BASE_URL"], env["OPENAI_API_KEY"]) == (URL, "none")


def test_without_a_model_server_the_configuration_says_where_openai_is() -> None:
    config = Config("m", openai_base_url="http://other", openai_api_key="k")
    env = build_environment(config, None, HOME, {"OPENAI_API_KEY": "inherited"})
    assert (env["OPENAI_BASE_URL"], env["OPENAI_API_KEY"]) == ("http://other", "k")
    assert "OPENAI_API_KEY" not in build_environment(Config("m"), None, HOME, {"OPENAI_API_KEY": "inherited"})


@pytest.mark.parametrize("name", ["KILO_CONFIG_CONTENT", "KILO_CONFIG_DIR", "KILOCODE_X", "OPENCODE_CONFIG"])
def test_what_steers_kilo_is_not_inherited(name: str) -> None:
    assert name not in build_environment(Config("m", URL), URL, HOME, {name: "x"})


def test_a_run_has_a_home_and_a_database_of_its_own() -> None:
    env = build_environment(Config("m", URL, env={"HOME": "/mine", "A": "b"}), URL, HOME, {"PATH": "/bin"})
    assert (env["PATH"], env["A"], env["KILO_DB"]) == ("/bin", "b", ":memory:")
    folders = [env[name] for name in ("HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")]
    assert all(folder.startswith("/run/home") for folder in folders)


def test_the_model_server_and_this_machine_need_no_proxy() -> None:
    env = build_environment(Config("m", URL), URL, HOME, {"NO_PROXY": "a.lan", "HTTP_PROXY": "http://p"})
    assert env["NO_PROXY"] == env["no_proxy"] == "a.lan,127.0.0.1,localhost,::1,models.lan"
