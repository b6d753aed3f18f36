from __future__ import annotations

from harness.record.normal import Normal, shortened

SESSION = "ses_dd7aaffd8ffe9LtLMUFvu8qKkt"
OTHER = "ses_dd7aaff4effeImdY0ES35D0pfS"


def test_ids_are_named_in_the_order_in_which_they_are_seen() -> None:
    normal = Normal({})
    assert normal.value([OTHER, SESSION, OTHER]) == ["ses_1", "ses_2", "ses_1"]


def test_times_and_paths_are_taken_out() -> None:
    normal = Normal({"/tmp/x": "<work>", "/tmp/x/project": "<project>"})
    value = {"time": {"created": 17}, "directory": "/tmp/x/project", "title": "New - 2026-11-29T17:23:09.105Z"}
    assert normal.value(value) == {
        "directory": "<project>",
        "time": {"created": "<time>"},
        "title": "New - <time>",
    }


def test_a_stack_trace_is_cut_off() -> None:
    assert Normal({}).text("Error: x\n    at <anonymous> (file:1:2)") == "Error: x"


def test_a_count_of_nothing_is_kept() -> None:
    assert Normal({}).value({"input": 0, "total": 7}) == {"input": 0, "total": "<count>"}


def test_long_texts_are_shortened() -> None:
    assert len(shortened({"a": ["x" * 1000]})["a"][0]) < 500
