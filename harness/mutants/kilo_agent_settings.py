"""Agents with a wrong `kilo.json`, a wrong command line or a wrong environment."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.mutants.mutant import Mutant, changing
from harness.reference.kilo.command import build_command
from harness.reference.kilo.config import Config
from harness.reference.kilo.environment import build_environment
from harness.reference.kilo.parts import Parts
from harness.reference.kilo.routing import PROVIDER, effective_model
from harness.reference.kilo.run import Folder
from harness.reference.kilo.settings import FILE, Settings, build_settings, model_entry

CONF_1 = "KA-CONF-1"
BUDGET = ("KA-CONF-4", "KA-BUDGET-1")
LIMITLESS = (*BUDGET, CONF_1, "KA-CONF-2", "KA-SWAP-1")
BUDGETS = ("KA-CONF-4", "KA-BUDGET-2")
MERGED = ("KA-CONF-2", "KA-CONF-5", "KA-SWAP-1")
"""What fails with a configuration that says something of the model server's provider."""

DECLARED = ("KA-CONF-3", "KA-CONF-5", "KA-CMD-1", "KA-ENV-2")
"""What fails with a provider of the configuration's own."""


def _early(config: Config, base_url: str | None) -> Settings | None:
    return build_settings(config, base_url) if config.kilo_config or "/" in config.model else None


def _on_provider(
    change: Callable[[Config, dict[str, Any]], None],
) -> Callable[[Config, str | None], Settings | None]:
    """Builds as the reference does, then changes the provider of the model server."""

    def build(config: Config, base_url: str | None) -> Settings | None:
        settings = build_settings(config, base_url)
        if base_url is not None and settings is not None:
            change(config, settings["provider"][PROVIDER])
        return settings

    return build


def _other_npm(_config: Config, provider: dict[str, Any]) -> None:
    provider["npm"] = "@ai-sdk/openai"


def _no_name(config: Config, provider: dict[str, Any]) -> None:
    model = provider["models"][config.model]
    if model["name"] == config.model:
        del model["name"]


def _stale_url(config: Config, provider: dict[str, Any]) -> None:
    provider["options"] |= _own(config).get("options", {})


def _ours_wins(config: Config, provider: dict[str, Any]) -> None:
    for name, model in provider["models"].items():
        model.update(model_entry(config, name))


def _options_lost(_config: Config, provider: dict[str, Any]) -> None:
    provider["options"].pop("timeout", None)


def _own(config: Config) -> Mapping[str, Any]:
    own: Mapping[str, Any] = config.kilo_config.get("provider", {}).get(PROVIDER, {})
    return own


def _field_for_null(config: Config, provider: dict[str, Any]) -> None:
    provider["models"][config.model].setdefault("interleaved", {"field": "reasoning_content"})


def _no_field(config: Config, provider: dict[str, Any]) -> None:
    provider["models"][config.model].pop("interleaved", None)


def _with(**changes: Any) -> Callable[[Config, str | None], Settings | None]:
    """Builds with other defaults for the model server's provider."""

    def build(config: Config, base_url: str | None) -> Settings | None:
        plain = Config(config.model)
        unsaid = {name: value for name, value in changes.items() if getattr(config, name) == getattr(plain, name)}
        return build_settings(replace(config, **unsaid) if base_url is not None else config, base_url)

    return build


def _fixed(config: Config) -> Config:
    return config if config.model_server is None else replace(config, model="small-1")


def _output_ignored(config: Config, base_url: str | None) -> Settings | None:
    return build_settings(replace(config, max_output_tokens=Config(config.model).max_output_tokens), base_url)


def _no_limit(config: Config, provider: dict[str, Any]) -> None:
    provider["models"][config.model].pop("limit", None)


def _own_key_replaced(config: Config, base_url: str | None) -> Settings | None:
    settings = build_settings(config, base_url)
    for provider in settings.get("provider", {}).values() if settings is not None and base_url is None else ():
        provider["options"]["apiKey"] = "unused"
    return settings


def _model_in_settings(config: Config, base_url: str | None) -> Settings | None:
    settings = build_settings(config, base_url)
    return settings if settings is None or base_url is None else {**settings, "model": effective_model(config)}


def _without_model(config: Config, folder: Path, prompt: str) -> list[str]:
    command = build_command(config, folder, prompt)
    at = command.index("-m")
    return command if config.model_server is None else command[:at] + command[at + 2 :]


def _no_model_added(config: Config, base_url: str | None) -> Settings | None:
    return build_settings(config, base_url) if base_url is not None else deepcopy(dict(config.kilo_config)) or None


def _split_at_last(config: Config, base_url: str | None) -> Settings | None:
    if base_url is not None:
        return build_settings(config, base_url)
    settings = deepcopy(dict(config.kilo_config))
    name, _, model = config.model.rpartition("/")
    provider = settings.get("provider", {}).get(name.partition("/")[0])
    if isinstance(provider, dict):
        provider["models"] = {model: model_entry(config, model), **provider.get("models", {})}
    return settings or None


def _entry_replaced(config: Config, base_url: str | None) -> Settings | None:
    settings = build_settings(config, base_url)
    if base_url is None and settings is not None:
        name, _, model = config.model.partition("/")
        provider = settings.get("provider", {}).get(name, {})
        if model in provider.get("models", {}):
            provider["models"][model] = model_entry(config, model)
    return settings


def _provider_made_up(config: Config, base_url: str | None) -> Settings | None:
    settings = build_settings(config, base_url)
    name, _, model = config.model.partition("/")
    if base_url is None and settings and name not in settings.get("provider", {}):
        settings["provider"][name] = {"models": {model: model_entry(config, model)}}
    return settings


def _empty_written(config: Config, base_url: str | None) -> Settings | None:
    return build_settings(config, base_url) or {}


def _grows(config: Config, base_url: str | None) -> Settings | None:
    """Changes the configuration itself, so that the next run finds what this one left."""
    settings = build_settings(config, base_url)
    for provider in config.kilo_config.get("provider", {}).values():
        models = provider.setdefault("models", {})
        models[f"seen-{len(models)}"] = model_entry(config, "seen")
    return settings


def _open(settings: Settings, folder: Path) -> None:
    (folder / FILE).touch()
    (folder / FILE).chmod(0o644)
    (folder / FILE).write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")


def _without(*words: str) -> Callable[[Config, Path, str], list[str]]:
    def build(config: Config, folder: Path, prompt: str) -> list[str]:
        return [word for word in build_command(config, folder, prompt) if word not in words]

    return build


def _normalised(config: Config, folder: Path, prompt: str) -> list[str]:
    return build_command(config, folder, " ".join(prompt.split()))


def _key_in_arguments(config: Config, folder: Path, prompt: str) -> list[str]:
    key = config.openai_api_key
    return build_command(replace(config, extra_args=("--title", key)) if key else config, folder, prompt)


def _own_url_wins(config: Config, base_url: str | None, home: Path, inherited: Mapping[str, str]) -> dict[str, str]:
    return build_environment(config, None if config.openai_base_url else base_url, home, inherited)


def _key_kept(config: Config, base_url: str | None, home: Path, inherited: Mapping[str, str]) -> dict[str, str]:
    env = build_environment(config, base_url, home, inherited)
    return {**env, "OPENAI_API_KEY": config.openai_api_key} if config.openai_api_key else env


class _WholeProject(Folder):
    """Copies everything of a project."""

    def __enter__(self) -> Folder:
        folder = super().__enter__()
        if self._repo_dir is not None:
            shutil.copytree(self._repo_dir, self.project, dirs_exist_ok=True)
        return folder


def _proxied(config: Config, base_url: str | None, home: Path, inherited: Mapping[str, str]) -> dict[str, str]:
    env = build_environment(config, base_url, home, inherited)
    return {name: value for name, value in env.items() if name.upper() != "NO_PROXY"}


def _steered(config: Config, base_url: str | None, home: Path, inherited: Mapping[str, str]) -> dict[str, str]:
    steering = {name: value for name, value in inherited.items() if name.startswith("KILO_CONFIG")}
    return {**build_environment(config, base_url, home, inherited), **steering}


SETTINGS: tuple[Mutant[Parts], ...] = (
    changing("early_return", "writes nothing for an empty kilo_config and a plain name", CONF_1, build_settings=_early),
    changing("other_npm", "names another package", CONF_1, "KA-CONF-2", build_settings=_on_provider(_other_npm)),
    changing("model_without_name", "gives the model no name", CONF_1, build_settings=_on_provider(_no_name)),
    changing("stale_url", "keeps a baseURL of kilo_config", *MERGED, build_settings=_on_provider(_stale_url)),
    changing("own_models_lost", "overwrites own models", "KA-CONF-2", build_settings=_on_provider(_ours_wins)),
    changing("own_options_lost", "drops own options", "KA-CONF-2", build_settings=_on_provider(_options_lost)),
    changing("model_not_added", "adds no model to a declared provider", *DECLARED, build_settings=_no_model_added),
    changing("split_at_last", "splits a name at its last slash", *DECLARED, build_settings=_split_at_last),
    changing("entry_replaced", "replaces an entry of the model", "KA-CONF-3", build_settings=_entry_replaced),
    changing("provider_made_up", "makes up an unknown provider", "KA-CONF-3", build_settings=_provider_made_up),
    changing("empty_file", "writes an empty kilo.json", "KA-CONF-3", build_settings=_empty_written),
    changing("small_output", "has a default output of 4096", "KA-CONF-4", build_settings=_with(max_output_tokens=4096)),
    changing("large_window", "has a default window of 65536", "KA-CONF-4", build_settings=_with(context_window=65536)),
    changing(
        "output_of_32000", "has a default output of 32000", *BUDGET, build_settings=_with(max_output_tokens=32000)
    ),
    changing(
        "model_fixed",
        "asks for one model, whatever is configured",
        *(CONF_1, "KA-CONF-4", "KA-CMD-1", "KA-SWAP-1"),
        build_settings=lambda config, base_url: build_settings(_fixed(config), base_url),
        build_command=lambda config, folder, prompt: build_command(_fixed(config), folder, prompt),
    ),
    changing("output_ignored", "ignores a given output limit", *BUDGETS, build_settings=_output_ignored),
    changing("no_limit", "leaves the model's limits out", *LIMITLESS, build_settings=_on_provider(_no_limit)),
    changing("own_key_replaced", "replaces a provider's own key", "KA-CONF-3", build_settings=_own_key_replaced),
    changing(
        "model_in_settings",
        "names the model in kilo.json instead of the command",
        "KA-CMD-1",
        build_settings=_model_in_settings,
        build_command=_without_model,
    ),
    changing("field_for_null", "names a field for null", "KA-CONF-4", build_settings=_on_provider(_field_for_null)),
    changing("interleaved_missing", "names no field", CONF_1, "KA-CONF-4", build_settings=_on_provider(_no_field)),
    changing("configuration_grows", "changes the configuration", "KA-CONF-5", build_settings=_grows),
    changing("project_settings_kept", "keeps a project's settings of Kilo", "KA-CONF-6", make_folder=_WholeProject),
    changing("steering_inherited", "hands inherited settings on", "KA-CONF-6", build_environment=_steered),
    changing("with_plugins", "runs without --pure", "KA-CMD-1", build_command=_without("--pure")),
    changing("no_double_dash", "puts no -- before the prompt", "KA-CMD-1", build_command=_without("--")),
    changing("prompt_normalised", "joins the prompt's words", "KA-CMD-1", build_command=_normalised),
    changing("openai_url_wins", "prefers openai_base_url", "KA-ENV-1", build_environment=_own_url_wins),
    changing("key_beside_server", "keeps the key of OpenAI", "KA-ENV-1", build_environment=_key_kept),
    changing("key_in_arguments", "puts the key into an argument", "KA-ENV-2", build_command=_key_in_arguments),
    changing("open_file", "lets everybody read kilo.json", "KA-ENV-2", write_settings=_open),
    changing("proxied", "sends model calls through a proxy", "KA-ENV-3", build_environment=_proxied),
)
