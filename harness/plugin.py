"""The pytest plugin that installing turnproof brings into every pytest run: stand-ins for users' own tests.

Nothing is imported or started before a test asks for one of its fixtures. A conformance run is a pytest run of its own
and does not load this plugin; see `harness.pytest_run`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from harness.launch import Ground, Launch
    from harness.target import Facts, Target
    from harness.testing import RunningEndpoint, ScriptedModel, ScriptedOpencode


def pytest_addoption(parser: pytest.Parser) -> None:
    """Hook: https://docs.pytest.org/en/stable/reference/reference.html#pytest.hookspec.pytest_addoption."""
    help_ = "the target file of the fixtures target and agent_endpoint (default: turnproof's reference endpoint)"
    parser.getgroup("turnproof").addoption("--turnproof-target", default="reference", metavar="FILE", help=help_)


@pytest.fixture(scope="session")
def _turnproof_target(pytestconfig: pytest.Config) -> Target:
    from harness.builtin import find_target
    from harness.testing import expect_usable

    found = find_target(pytestconfig.getoption("--turnproof-target"))
    expect_usable(found)
    return found


@pytest.fixture(scope="session")
def _turnproof_ground(_turnproof_target: Target) -> Iterator[Ground]:
    from harness.launch import ground
    from harness.stand_ins import StandIn

    with ground(_turnproof_target, StandIn()) as base:
        yield base


@pytest.fixture(scope="session")
def _turnproof_launch(_turnproof_target: Target, _turnproof_ground: Ground) -> Iterator[Launch]:
    from harness.launch import launched_on
    from harness.variables import expect_set

    expect_set(_turnproof_target, os.environ)
    with launched_on(_turnproof_ground, _turnproof_target) as launch:
        yield launch


@pytest.fixture
def target(_turnproof_target: Target) -> Facts:
    """What the target of `--turnproof-target` says of itself."""
    return _turnproof_target.facts


@pytest.fixture
def model_server(_turnproof_ground: Ground) -> Iterator[ScriptedModel]:
    """A scripted model server; every test begins with no rules and no calls."""
    from harness.testing import ScriptedModel

    server = ScriptedModel(_turnproof_ground)
    server.clear()
    yield server
    server.clear()


@pytest.fixture
def opencode_server(model_server: ScriptedModel, _turnproof_ground: Ground) -> ScriptedOpencode:
    """An opencode stand-in whose turns call `model_server`."""
    from harness.testing import scripted_opencode

    return scripted_opencode(_turnproof_ground)


@pytest.fixture
def agent_endpoint(model_server: ScriptedModel, _turnproof_launch: Launch) -> RunningEndpoint:
    """The target, running in front of `opencode_server` and `model_server`."""
    from harness.testing import running_endpoint

    return running_endpoint(_turnproof_launch)
