"""The same for the suite of model servers: nothing passes against a target that does nothing of what it wants."""

from __future__ import annotations

import io
from contextlib import ExitStack
from pathlib import Path

import pytest

from harness.engine import Engine
from harness.journal import Journal
from harness.launch import Launch
from harness.listener import free_port
from harness.pytest_run import collect, isolated, session_arguments
from harness.recorder import Recorder
from harness.redaction import Redactor
from harness.requirements import catalogue
from harness.results import CheckResult, Writer
from harness.suite_plugin import SuitePlugin
from harness.target import Agent, Policies
from harness.target_keys import FromEnvironment, Key
from tests.staging import Unwatched, serving, target_at
from tests.test_nothing_passes import NOTHING, Unreached

SUITE = "model_server"
MODELS = ("large", "small")
KEYS = tuple(
    Key(name, "valid", ids, FromEnvironment("UNUSED")) for name, ids in (("main", MODELS), ("one", MODELS[1:]))
)
SECRETS = {key.name: f"secret-of-{key.name}" for key in KEYS}


def judge(engine: Engine, name: str, policy: str, captures: Path) -> list[CheckResult]:
    """All checks of the suite against such a target, without the doctor who would refuse it."""
    needs = {requirement.id: requirement.capability for requirement in catalogue(SUITE)}
    capabilities = tuple(sorted({need for need in needs.values() if need is not None}))
    told: list[CheckResult] = []
    with ExitStack() as ends:
        handler = NOTHING[name]
        url = ends.enter_context(serving(engine, handler)) if handler else f"http://127.0.0.1:{free_port()}"
        live = ends.enter_context(Unreached(engine, Journal(), url, SECRETS, -9.0, None))
        target = target_at(
            url,
            kind="model-server",
            agents=tuple(Agent(id_) for id_ in MODELS),
            keys=KEYS,
            capabilities=capabilities,
            policies=Policies(over_window=policy),
            window=2048,
            reasoning_field="both",
        )
        launch = Launch(target, live, None, Redactor(SECRETS), captures=captures)
        plugin = SuitePlugin(Unwatched(launch, "seed"), needs)
        recorder = Recorder(Writer(io.StringIO(), Redactor()), told.append)
        with isolated():
            pytest.main(session_arguments([planned.check for planned in collect(SUITE)]), plugins=[recorder, plugin])
    assert recorder.broken == []
    return told


@pytest.mark.parametrize(
    ("name", "policy"),
    [
        *(pytest.param(name, "error", id=name) for name in NOTHING),
        pytest.param("always an empty 200", "empty_length", id="always an empty 200, as declared"),
        pytest.param("always 400", "clamp", id="always 400, where limits are cut"),
    ],
)
def test_no_check_passes(engine: Engine, tmp_path: Path, name: str, policy: str) -> None:
    results = judge(engine, name, policy, tmp_path)
    assert len(results) == len(collect(SUITE))
    assert [result.check for result in results if result.verdict == "pass"] == []
    assert [result.reason for result in results if result.verdict == "error"] == []
