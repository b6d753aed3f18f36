"""A conformance run's own pytest: no configuration, option or plugin of the user's can bend a verdict."""

from __future__ import annotations

import contextlib
import functools
import io
import itertools
import os
import random
import re
from collections.abc import Collection, Iterator, Sequence
from typing import TypeVar
from unittest import mock

import pytest

from harness.errors import HarnessError, UsageError
from harness.requirements import SUITES, catalogue, suite_folder
from harness.results import Planned
from harness.suite_plugin import requirements_of

_OWN_PLUGINS = (
    "harness.fixtures.actors",
    "harness.fixtures.agent_endpoint",
    "harness.fixtures.opencode_server",
    "harness.fixtures.model_server",
    "harness.fixtures.kilo_cli",
    "harness.fixtures.kilo_agent",
    "harness.fixtures.live",
    "harness.worker",
)
# Nobody reads a terminal report or warnings of this run, and looking for what is left to warn of at its end is slow.
_OFF = ("terminal", "cacheprovider", "unraisableexception", "threadexception", "tmpdir")
_CLEARED = ("PYTEST_ADDOPTS", "PYTEST_PLUGINS")

T = TypeVar("T")

_WORD = re.compile(r"[^\s()]+")


def arguments(*extra: str) -> list[str]:
    """The arguments that every pytest run of ours begins with."""
    plugins = [part for name in _OWN_PLUGINS for part in ("-p", name)]
    off = [part for name in _OFF for part in ("-p", f"no:{name}")]
    return ["-c", str(SUITES / "pytest.ini"), "--rootdir", str(SUITES), "--assert=plain", *plugins, *off, *extra]


@contextlib.contextmanager
def isolated() -> Iterator[None]:
    """An environment in which pytest loads no plugin and takes no option but ours; workers inherit it."""
    with mock.patch.dict(os.environ, {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}):
        for name in _CLEARED:
            os.environ.pop(name, None)
        yield


class _Collector:
    """Notes what pytest collects."""

    def __init__(self) -> None:
        self.planned: tuple[Planned, ...] = ()
        self.problems: list[str] = []

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        ids = requirements_of(item)
        item.extra_keyword_matches.update(ids, map(_whole, ids))

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.planned = tuple(Planned(item.nodeid, requirements_of(item), title_of(item)) for item in session.items)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.problems.append(str(report.longrepr))


def title_of(item: pytest.Item) -> str:
    """A check's name as a sentence: `test_a_key_works[late]` is `a key works (late)`."""
    name, _, parameters = item.name.removeprefix("test_").partition("[")
    return name.replace("_", " ") + (f" ({parameters.removesuffix(']')})" if parameters else "")


@functools.cache
def _whole(requirement: str) -> str:
    """A word that stands in no other requirement's, where the id alone may be the beginning of another."""
    return f"{requirement}."


def _with_whole_ids(expression: str, suite: str) -> str:
    known = {requirement.id for requirement in catalogue(suite)}
    return _WORD.sub(lambda word: _whole(word[0]) if word[0] in known else word[0], expression)


def collect(suite: str, expression: str = "") -> tuple[Planned, ...]:
    """The checks of `suite` that match a pytest `-k` expression, in their order.

    The expression is matched against the names of checks and the ids of their requirements; a whole id in it is that of
    one requirement: AE-REQ-1 is not AE-REQ-10. Raises UsageError when it is no expression or nothing matches,
    HarnessError when a check cannot be collected.
    """
    collector, said = _Collector(), io.StringIO()
    selection = ["-k", _with_whole_ids(expression, suite)] if expression else []
    with isolated(), contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
        code = pytest.main(arguments("--collect-only", *selection, str(suite_folder(suite))), plugins=[collector])
    if collector.problems:
        raise HarnessError(f"the checks of {suite} cannot be collected:\n" + "\n".join(collector.problems))
    if code == pytest.ExitCode.USAGE_ERROR:
        hint = "write it as for pytest: -k 'STREAM and not done'; the words of a check's title are joined by _"
        raise UsageError(f"-k {expression!r} is not an expression", hint)
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise HarnessError(f"the checks of {suite} cannot be collected:\n{said.getvalue()[-4000:]}")
    if not collector.planned:
        raise UsageError(f"no check of {suite} matches -k {expression!r}", "turnproof run --list names them all")
    return collector.planned


def session_arguments(checks: Collection[str], workers: int = 0) -> list[str]:
    """The arguments of a run of the files that hold `checks`, in so many xdist workers (0: in this process).

    `Selection` then leaves these checks alone of them.
    """
    parallel = ["-p", "xdist", "-n", str(workers)] if workers else []
    files = dict.fromkeys(str(SUITES / check.partition("::")[0]) for check in checks)
    return arguments(*parallel, *files)


class Selection:
    """The pytest plugin that leaves only the checks of these ids; `shuffle`, unless None, seeds their order.

    Those that wait for time to pass are spread over the first two thirds: the other workers work meanwhile, and none is
    left with them at the end.
    """

    def __init__(self, checks: Collection[str], shuffle: str | None = None) -> None:
        self._checks, self._shuffle = frozenset(checks), shuffle

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Hook."""
        chosen = [item for item in items if item.nodeid in self._checks]
        waiting = [item for item in chosen if item.get_closest_marker("waits") is not None]
        items[:] = spread(waiting, [item for item in chosen if item not in waiting])
        if self._shuffle is not None:
            random.Random(self._shuffle).shuffle(items)


def spread(few: Sequence[T], many: Sequence[T]) -> list[T]:
    """All of both in their order, those of `few` spread evenly over the first two thirds of `many`."""
    gap = 2 * len(many) // (3 * len(few)) if few else 0
    groups = ([one, *many[number * gap : (number + 1) * gap]] for number, one in enumerate(few))
    return [*itertools.chain.from_iterable(groups), *many[len(few) * gap :]]
