from __future__ import annotations

from harness.fakes.opencode.settings import merged, settings_of
from harness.opencode import config


def test_providers_are_those_of_the_configuration_that_the_real_one_gets() -> None:
    settings = config("http://h/v1", [("litellm", "vendor/large-1"), ("litellm", "small-1")])
    provider = settings_of(settings).providers["litellm"]
    assert provider.base_url == "http://h/v1"
    assert provider.models.keys() == {"vendor/large-1", "small-1"}


def test_a_provider_that_is_not_enabled_is_not_there() -> None:
    providers: dict[str, dict[str, str]] = {"a": {}, "b": {}, "c": {}}
    config = {"provider": providers, "enabled_providers": ["b", "c"], "disabled_providers": ["c"]}
    assert settings_of(config).providers.keys() == {"b"}


def test_later_settings_lie_over_earlier_ones_object_by_object() -> None:
    assert merged({"a": {"b": 1, "c": 2}}, {"a": {"b": 3}, "d": 4}) == {"a": {"b": 3, "c": 2}, "d": 4}
