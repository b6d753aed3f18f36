from __future__ import annotations

from harness.target import Start, Target
from harness.target_keys import FromCommand, FromEnvironment, FromRequest, Key, Request
from harness.target_secrets import from_environment
from tests.staging import target_at

ENVIRON = {name: f"value of {name}" for name in "ABCDEFGHIJ"} | {"SHORT": "1234567", "KEY": "k"}


def target(*keys: Key) -> Target:
    start = Start(("run", "{env:A}", "{port}", "{{env:J}}"), {"X": "x-{env:B}"}, "{env:C}/{env:SHORT}")
    return target_at("http://unused", url=None, start=start, keys=keys)


def test_variables_of_the_start_are_known() -> None:
    assert from_environment(target(), ENVIRON) == {f"env.{name}": f"value of {name}" for name in "ABC"}


def test_variables_of_requests_and_commands_for_keys_are_known() -> None:
    mint = Request(
        "POST", "/{env:D}", {"Authorization": "Bearer {env:E}"}, {"a": ["{env:F}", 1, None, {"b": "{env:G}"}]}
    )
    keys = (
        Key("one", "revoked", ("a",), FromRequest(mint, "/key"), Request("DELETE", "/{env:H}", {})),
        Key("two", "valid", ("a",), FromCommand(("print", "{env:I}"))),
    )
    assert set(from_environment(target(*keys), ENVIRON)) == {f"env.{name}" for name in "ABCDEFGHI"}


def test_key_of_any_length_is_known_by_its_name() -> None:
    found = from_environment(target(Key("main", "valid", ("a",), FromEnvironment("KEY"))), ENVIRON)
    assert found["key.main"] == "k"


def test_variable_that_is_not_set_is_passed_over() -> None:
    assert from_environment(target(Key("main", "expired", ("a",), FromEnvironment("UNSET"))), {}) == {}
