from __future__ import annotations

import pytest

from harness.reference.kilo.config import Config
from harness.reference.kilo.routing import effective_model, resolve_url, split_rollout


@pytest.mark.parametrize("server", ["http://h:1", "http://h:1/", "http://h:1/v1", "http://h:1/v1/"])
def test_the_address_ends_with_v1_and_a_rollout_comes_before_it(server: str) -> None:
    config = Config("m", server)
    assert resolve_url(config, None) == "http://h:1/v1"
    assert resolve_url(config, "r-1") == "http://h:1/ng-rollout/r-1/v1"


def test_a_path_of_the_servers_own_is_kept() -> None:
    assert resolve_url(Config("m", "http://h/models/v1"), "r") == "http://h/models/ng-rollout/r/v1"


def test_without_a_server_there_is_no_address() -> None:
    assert resolve_url(Config("m"), "r") is None


def test_only_a_model_server_is_named_in_the_model() -> None:
    assert effective_model(Config("a/b", "http://h")) == "nemo/a/b"
    assert effective_model(Config("house/b")) == "house/b"


@pytest.mark.parametrize(
    ("path", "split"),
    [
        ("/run", ("/run", None)),
        ("/ng-rollout/a.b-c_1/run", ("/run", "a.b-c_1")),
        ("/ng-rollout/a/b/run", ("/b/run", "a")),
        ("/ng-rollout/ä/run", ("/ng-rollout/ä/run", None)),
        ("/ng-rollout//run", ("/ng-rollout//run", None)),
        ("/x/ng-rollout/a/run", ("/x/ng-rollout/a/run", None)),
    ],
)
def test_the_prefix_is_taken_off_the_beginning(path: str, split: tuple[str, str | None]) -> None:
    assert split_rollout(path) == split
