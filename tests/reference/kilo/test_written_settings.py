"""The reference's `kilo.json`, byte for byte as it is written; only addresses and the folders of runs are replaced.

It is compared for the target of `--turnproof-target` when that is an agent that wraps the Kilo CLI, but it is kept for
the reference alone: `--snapshot-update` is refused on any other.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension

from harness.builtin import find_target
from harness.exchange import Request
from harness.fixtures.kilo_agent import LARGE, MERGED, PLAIN, SMALL, declared
from harness.kilo_agent_target import REFERENCE
from harness.kilo_agents import LiveAgents, Wanted
from harness.kilo_behind import KiloBehind, KiloPart
from harness.launch import launched
from harness.target import Target

CASES: dict[str, tuple[Mapping[str, Any], str]] = {
    "model server and empty configuration": ({**PLAIN, "model": SMALL, "kilo_config": {}}, ""),
    "slashed model": ({**PLAIN, "model": LARGE}, ""),
    "no server and a declared provider": (declared(), ""),
    "server and openai_base_url": ({**PLAIN, "openai_base_url": "{decoy_url}", "openai_api_key": "k"}, ""),
    "no reasoning field": ({**PLAIN, "reasoning_field": None}, ""),
    "overrides": (MERGED, ""),
    "rollout prefix": (PLAIN, "/ng-rollout/rollout-1"),
}


class JsonFile(SingleFileSnapshotExtension):
    """A file of its own for each, which editors know by its name."""

    file_extension = "json"


@pytest.fixture(scope="module")
def judged(pytestconfig: pytest.Config) -> Target:
    """The target, refused when snapshots are to be updated and it is not the reference."""
    target = find_target(str(pytestconfig.getoption("--turnproof-target")))
    if target.kind != "kilo-agent":
        target = find_target(REFERENCE)
    if pytestconfig.getoption("update_snapshots") and target != find_target(REFERENCE):
        raise pytest.UsageError(f"--snapshot-update is for {REFERENCE} alone, and not for {target.name}")
    return target


@pytest.fixture(scope="module")
def agents(judged: Target) -> Iterator[LiveAgents]:
    with launched(judged, KiloPart()) as launch:
        assert isinstance(launch.live, LiveAgents)
        yield launch.live


def written(agents: LiveAgents, configuration: Mapping[str, Any], prefix: str) -> bytes:
    """The bytes of the `kilo.json` that a run had, with the model server's address replaced."""
    behind = agents.behind
    assert isinstance(behind, KiloBehind)
    wanted = Wanted(configuration)
    agents.start(wanted)
    agents.ask(
        wanted, Request("POST", f"{prefix}/v1/responses", (), json.dumps({"input": "hi"}).encode()), "ask"
    ).result()
    run = behind.runs()[-1]
    text = next(str(file["text"]) for file in run["files"] if file["path"].endswith("/kilo.json"))
    agents.close_window()
    return text.replace(behind.model.url, "http://model-server").replace(run["cwd"], "{folder}").encode()


@pytest.mark.parametrize("case", CASES)
def test_settings_are_written_as_they_are_kept(agents: LiveAgents, snapshot: SnapshotAssertion, case: str) -> None:
    assert written(agents, *CASES[case]) == snapshot(extension_class=JsonFile)


def test_updating_snapshots_is_refused_on_any_other_target(pytester: pytest.Pytester) -> None:
    arguments = ("--snapshot-update", "--turnproof-target", "kilo-mutant:output_of_32000", "--import-mode=importlib")
    path = str(__file__)
    result = pytester.runpytest_subprocess(
        *arguments, "-p", "no:randomly", "-p", "no:cacheprovider", "-p", "pytester", path, "-k", "slashed"
    )
    assert result.ret != 0
    result.stdout.fnmatch_lines(["*--snapshot-update is for reference-kilo alone*"])
