from __future__ import annotations

import httpx

from harness.behind import ModelAlone
from harness.builtin import find_target
from harness.fakes.model.script import Answer, Rule
from harness.launch import ground

_MODELS = ModelAlone(frozenset({"small-1"}))


def test_a_model_server_alone_answers_by_the_script_and_is_journalled() -> None:
    target = find_target("reference")
    with ground(target, _MODELS) as base:
        assert base.behind is not None
        base.behind.use_model_rules((Rule("asked", (Answer(text="answered"),)),))
        url = base.behind.placeholders()["model_url"]
        body = {"model": "small-1", "messages": [{"role": "user", "content": "asked"}]}
        reply = httpx.post(f"{url}/chat/completions", json=body, trust_env=False)
        assert "answered" in reply.text
        assert [call.request.path for call in base.journal.seen("model")] == ["/v1/chat/completions"]


def test_a_model_server_alone_sees_no_opencode() -> None:
    with ground(find_target("reference"), _MODELS) as base:
        assert base.behind is not None
        assert [base.behind.observes(hop) for hop in ("model", "opencode")] == [True, False]
