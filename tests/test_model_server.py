from __future__ import annotations

from pathlib import Path

import pytest

from harness.behind import ModelAlone
from harness.builtin import find_target
from harness.doctor import examine
from harness.engine import Engine
from harness.errors import TargetNotReady, UsageError
from harness.launch import launched
from harness.model_server import MODELS, built_in, part_of
from harness.parts import part_behind
from harness.stand_ins import ModelStandIn
from harness.target_file import load
from harness.up import of_other_kind
from tests.staging import answering, serving
from tests.target_texts import AGENT, KEY, MODEL_HEAD

OF_EACH = {
    "model-stand-in": ({"reasoning", "capture", "token_ids", "virtual_keys", "models"}, "error", "reasoning_content"),
    "model-stand-in:gym": ({"reasoning", "capture", "token_ids"}, "empty_length", "reasoning_content"),
    "model-stand-in:proxy": ({"reasoning", "virtual_keys", "models"}, "error", "reasoning_content"),
    "model-stand-in:vllm-0.12.0": ({"reasoning", "models"}, "error", "both"),
    "model-stand-in:vllm-0.33": ({"reasoning", "models"}, "clamp", "reasoning"),
    "model-stand-in:plain": ({"models"}, None, None),
}


def quietly(_step: str, _detail: str) -> None:
    pass


@pytest.mark.parametrize("name", OF_EACH)
def test_a_stand_in_declares_what_its_face_does(name: str) -> None:
    target = find_target(name)
    came = (set(target.capabilities), target.policies.over_window, target.reasoning_field)
    assert came == OF_EACH[name]
    assert (target.kind, target.source) == ("model-server", name)


def test_a_flaw_is_the_stand_in_with_its_face() -> None:
    assert find_target("model-flaw:gym_refuses").model == ModelStandIn("gym", "gym_refuses")


@pytest.mark.parametrize("name", ["model-stand-in:other", "model-flaw:nothing"])
def test_an_unknown_one_is_refused(name: str) -> None:
    with pytest.raises(UsageError):
        built_in(name)


@pytest.mark.parametrize("name", ["stand-in", "model-stand-ins", "http://127.0.0.1:9"])
def test_any_other_name_is_not_ours(name: str) -> None:
    assert built_in(name) is None


def test_a_target_that_names_no_model_url_has_nothing_of_ours_behind_it() -> None:
    assert part_of(find_target("http://127.0.0.1:9", kind="model-server")) is None


def test_behind_a_proxy_is_a_model_server_with_the_proxys_window(tmp_path: Path) -> None:
    start = '[start]\ncommand = ["run", "{model_url}"]\n[[agents]]\nid = "b"\nmodel = "openai/vendor/b"\n'
    file = tmp_path / "proxy.toml"
    file.write_text(MODEL_HEAD + 'window = 777\nupstream = "vllm-0.31"\n' + start + AGENT + KEY, encoding="utf-8")
    assert part_of(load(file)) == ModelAlone(frozenset({"a", "vendor/b"}), face="vllm-0.31", window=777)


@pytest.mark.parametrize("name", ["model-stand-in", "model-stand-in:gym", "model-flaw:no_done"])
def test_the_doctor_takes_a_nonce_all_the_way_round(name: str) -> None:
    said: list[str] = []
    examine(find_target(name), lambda step, _detail: said.append(step))
    assert said == ["what is behind it is up", "a nonce made it all the way round"]


def test_the_doctor_names_what_a_server_answers_instead(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TURNPROOF_API_KEY", "any-key-will-do")
    models = {"object": "list", "data": [{"id": "m", "object": "model", "created": 1, "owned_by": "x"}]}
    handler = answering(lambda request: (200, models) if request.method == "GET" else (503, {"error": "down"}))
    with serving(engine, handler) as url, pytest.raises(TargetNotReady, match="it answered 503"):
        examine(find_target(url, kind="model-server"), quietly)


def test_up_tells_a_key_of_the_stand_in() -> None:
    target = find_target("model-stand-in")
    with launched(target, part_behind(target, "stand-in", quietly)) as launch:
        text = of_other_kind(launch)
        assert launch.live.keys["main"] in text
        assert MODELS[0] in text
        assert "model server" not in text


def test_keys_of_two_runs_differ() -> None:
    target = find_target("model-stand-in")
    keys = []
    for _ in range(2):
        with launched(target, part_behind(target, "stand-in", quietly)) as launch:
            keys.append(launch.live.keys["main"])
    assert keys[0] != keys[1]
