from __future__ import annotations

import re
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _only_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)


def test_plugin_imports_no_more_of_turnproof_than_itself(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import sys

        def test_x():
            assert [name for name in sys.modules if name.startswith("harness.")] == ["harness.plugin"]
        """
    )
    pytester.runpytest_subprocess("-p", "harness.plugin", "-p", "no:randomly").assert_outcomes(passed=1)


EXAMPLES = re.findall(r"```python\n(.*?)```", (Path(__file__).parents[1] / "docs" / "testing.md").read_text(), re.S)


@pytest.mark.parametrize("options", [(), ("-p", "xdist", "-n", "2")], ids=["alone", "n2"])
def test_the_examples_of_the_docs_run(pytester: pytest.Pytester, options: tuple[str, ...]) -> None:
    pytester.makepyfile(**{f"test_{number}": example for number, example in enumerate(EXAMPLES)})
    ran = pytester.runpytest_subprocess("-p", "harness.plugin", "-W", "error", *options)
    ran.assert_outcomes(passed=len(EXAMPLES))


def test_a_test_begins_without_the_rules_and_calls_of_another(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import httpx
        import pytest

        @pytest.mark.parametrize("n", range(2))
        def test_x(model_server, n):
            body = {"model": model_server.models[0], "messages": [{"role": "user", "content": "hello"}]}
            reply = httpx.post(f"{model_server.url}/chat/completions", json=body).json()
            assert reply["choices"][0]["message"]["content"] == "ok"
            assert len(model_server.calls) == 1
            model_server.answer("not for the next test")
        """
    )
    pytester.runpytest_subprocess("-p", "harness.plugin").assert_outcomes(passed=2)


def test_what_cannot_be_used_is_refused_where_it_is_given(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.parametrize(
            ("steps", "error", "told"),
            [
                ((), ValueError, "a step at least"),
                ((5,), TypeError, "not 5"),
                ((["a", "b"],), TypeError, "not \\['a', 'b'\\]"),
            ],
        )
        def test_x(model_server, steps, error, told):
            with pytest.raises(error, match=told):
                model_server.answer(*steps)
        """
    )
    pytester.runpytest_subprocess("-p", "harness.plugin").assert_outcomes(passed=3)


def test_a_target_that_nothing_can_be_put_behind_is_refused(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_x(model_server): pass")
    ran = pytester.runpytest_subprocess("-p", "harness.plugin", "--turnproof-target", "http://127.0.0.1:1")
    ran.assert_outcomes(errors=1)
    ran.stdout.fnmatch_lines(["*not a file of an agent endpoint that is started from it*"])
