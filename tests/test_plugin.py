from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _only_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)


def test_marker_is_known(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.requirement("AE-AUTH-1")
        def test_x(): pass
        """
    )
    pytester.runpytest("--strict-markers", "-p", "harness.plugin").assert_outcomes(passed=1)


def test_plugin_imports_no_more_of_turnproof_than_itself(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import sys

        def test_x():
            assert [name for name in sys.modules if name.startswith("harness.")] == ["harness.plugin"]
        """
    )
    pytester.runpytest_subprocess("-p", "harness.plugin", "-p", "no:randomly").assert_outcomes(passed=1)
