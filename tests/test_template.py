from __future__ import annotations

import pytest

from harness.errors import UsageError
from harness.template import JSON, expand, expand_json, has_lone_brace, is_variable, placeholders

VALUES = {"port": "8000", "url": "http://h:8000"}
ENVIRON = {"TOKEN": "t{port}", "EMPTY": ""}


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("", ""),
        ("plain", "plain"),
        ("--port={port}", "--port=8000"),
        ("{url}/{port}", "http://h:8000/8000"),
        ("{{port}}", "{port}"),
        ("{{{port}}}", "{8000}"),
        ("{{}}", "{}"),
        ("Bearer {env:TOKEN}", "Bearer t{port}"),
    ],
)
def test_placeholders_are_replaced_once(template: str, text: str) -> None:
    assert expand(template, VALUES, ENVIRON) == text


@pytest.mark.parametrize(
    ("template", "message", "hint"),
    [
        ("{work}", "here: {work} has no value here", "Known here: {port}, {url}, {env:NAME}."),
        ("{env:}", "here: {env:} has no value here", "Known here: {port}, {url}, {env:NAME}."),
        (
            "{env:NONE}",
            "here: the environment variable NONE is not set, or is empty",
            "Set NONE before the run.",
        ),
        (
            "{env:EMPTY}",
            "here: the environment variable EMPTY is not set, or is empty",
            "Set EMPTY before the run.",
        ),
        ("a{b", "here: a single brace", "Write {{ or }} for a brace."),
        ("a}b", "here: a single brace", "Write {{ or }} for a brace."),
    ],
)
def test_what_cannot_be_replaced_is_a_usage_error(template: str, message: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        expand(template, VALUES, ENVIRON, "here")
    assert (caught.value.message, caught.value.hint) == (message, hint)


def test_json_is_expanded_in_its_strings_only() -> None:
    value: JSON = {"{port}": ["{port}", 1, True, None, {"deep": "{{"}]}
    assert expand_json(value, VALUES, ENVIRON) == {"{port}": ["8000", 1, True, None, {"deep": "{"}]}


def test_json_that_was_expanded_is_a_copy() -> None:
    value: JSON = {"a": ["{port}"]}
    expand_json(value, VALUES, ENVIRON)
    assert value == {"a": ["{port}"]}


@pytest.mark.parametrize(("where", "place"), [("keys[0].mint.body", "keys[0].mint.body.a[1].b"), ("", "a[1].b")])
def test_an_error_in_json_names_its_place(where: str, place: str) -> None:
    with pytest.raises(UsageError, match="NONE") as caught:
        expand_json({"a": ["", {"b": "{env:NONE}"}]}, {}, {}, where)
    assert caught.value.message.startswith(f"{place}: ")


def test_placeholders_are_found_in_order_and_literal_braces_are_none() -> None:
    assert placeholders("{b} {{c}} {env:A}{b}") == ("b", "env:A", "b")


@pytest.mark.parametrize(
    ("template", "lone"), [("{", True), ("a}", True), ("{{ }}", False), ("{a}", False), ("{{{", True)]
)
def test_a_lone_brace_is_neither_doubled_nor_of_a_placeholder(template: str, lone: bool) -> None:
    assert has_lone_brace(template) is lone


@pytest.mark.parametrize(
    ("name", "variable"),
    [("env:A_1", True), ("env:", False), ("env:1A", False), ("env:A\n", False), ("port", False)],
)
def test_a_variable_is_env_and_a_name(name: str, variable: bool) -> None:
    assert is_variable(name) is variable
