from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from harness.engine import Engine
from harness.errors import TargetNotReady, UsageError
from harness.launch import Launch, launched
from harness.target import Ready, Start, Target
from harness.target_keys import FromCommand, FromEnvironment, Key, Minting
from tests.running import ENDPOINTS
from tests.staging import KEY, answering, canned, serving, target_at

PROGRAM = str(ENDPOINTS / "canned.py")
PRINTED = (Key("main", "valid", ("solver",), FromCommand(("{python}", "-c", "print('{owner_secret}')"))),)
SAYS_ENV = (
    "import os, sys, time; print('|'.join(sys.argv[1:]), os.environ['GIVEN'], os.getcwd(), flush=True); time.sleep(600)"
)


def started(command: tuple[str, ...] = ("{python}", PROGRAM, "{port}"), **changes: Any) -> Target:
    start = Start(command, changes.pop("env", {"ENDPOINT_KEY": "{owner_secret}"}), changes.pop("cwd", "."))
    fields = {"keys": PRINTED, "ready": Ready(within=30), "folder": Path("/"), **changes}
    return target_at("http://unused", url=None, start=start, **fields)


@contextlib.contextmanager
def up(target: Target) -> Iterator[Launch]:
    with launched(target, None) as launch:
        yield launch


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where work folders are made."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_target_is_up_with_its_keys_while_the_context_lasts() -> None:
    said: list[str] = []
    with launched(started(), None, lambda step, _: said.append(step)) as launch:
        assert launch.process is not None
        secret = launch.live.keys["main"]
        assert said == ["it starts", "it is ready", "its keys are had"]
    assert launch.process.descendants() == ()
    assert len(secret) > 20


def test_nothing_is_left_when_the_context_fails(temporary: Path) -> None:
    seen: list[Launch] = []
    with contextlib.suppress(ZeroDivisionError), up(started()) as launch:
        seen.append(launch)
        assert list(temporary.iterdir())
        seen.append(1 / 0)  # type: ignore[arg-type]
    assert [launch.process and launch.process.descendants() for launch in seen] == [()]
    assert list(temporary.iterdir()) == []


def test_command_environment_and_folder_are_filled_in(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    command = ("{python}", "-c", SAYS_ENV, "{{x}}", "{work}")
    ready = Ready(path=None, log=rf"\{{x\}}\|/.*/target-[^/ ]+ http://127\.0\.0\.1:\d+ {tmp_path}/sub", within=30)
    with up(started(command, env={"GIVEN": "{url}"}, cwd="sub", folder=tmp_path, ready=ready)) as launch:
        assert launch.process is not None


def test_environment_of_the_user_reaches_the_target(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIVEN", "by the user")
    with up(started(("{python}", "-c", SAYS_ENV), env={}, ready=Ready(path=None, log="by the user", within=30))):
        pass


def test_command_that_cannot_be_started_is_told() -> None:
    with (
        pytest.raises(TargetNotReady, match="/no/such in /: /no/such: No such file") as caught,
        up(started(("/no/such",))),
    ):
        pass
    assert caught.value.step == "it starts"


def test_folder_that_does_not_exist_is_told() -> None:
    with pytest.raises(TargetNotReady, match="No such file") as caught, up(started(cwd="no/such")):
        pass
    assert caught.value.step == "it starts"


def test_missing_variable_is_a_usage_error_before_anything_starts() -> None:
    with (
        pytest.raises(UsageError, match=r"start\.env\.A: the environment variable NO_SUCH_VARIABLE"),
        up(started(env={"A": "{env:NO_SUCH_VARIABLE}"})),
    ):
        pass


def test_failure_shows_what_the_target_wrote_without_secrets() -> None:
    dying = ("{python}", "-c", "import os, sys; sys.exit('owner is ' + os.environ['ENDPOINT_KEY'])")
    with pytest.raises(TargetNotReady) as caught, up(started(dying)):
        pass
    assert caught.value.step == "it is ready"
    assert caught.value.log == "owner is [secret:owner]\n"


def test_failure_shows_nothing_of_the_secrets_by_which_keys_are_minted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OWNERS_SESSION", "a-long-session")
    mint = Minting("/keys", {"cookie": "{env:OWNERS_SESSION}"}, "/key")
    dying = ("{python}", "-c", "import os, sys; sys.exit(os.environ['OWNERS_SESSION'])")
    with pytest.raises(TargetNotReady) as caught, up(started(dying, mint=mint)):
        pass
    assert caught.value.log == "[secret:env:OWNERS_SESSION]\n"


def test_failure_to_have_keys_is_told_with_the_log() -> None:
    broken = (Key("main", "valid", ("solver",), FromCommand(("{python}", "-c", "raise SystemExit(3)"))),)
    with pytest.raises(TargetNotReady) as caught, up(started(keys=broken, ready=Ready(log="Running on", within=30))):
        pass
    assert caught.value.step == "its keys are had"
    assert "Running on" in caught.value.log


def test_log_of_a_running_target_is_without_its_secrets() -> None:
    says_key = "import os, time; print(os.environ['ENDPOINT_KEY'], flush=True); time.sleep(600)"
    with up(started(("{python}", "-c", says_key), ready=Ready(path=None, log=".", within=30))) as launch:
        assert launch.log() == "[secret:key.main]\n"


def test_log_of_a_running_target_is_without_its_spoilt_keys() -> None:
    says_key = "import os, time; print(os.environ['ENDPOINT_KEY'][:-1], flush=True); time.sleep(600)"
    with up(started(("{python}", "-c", says_key), ready=Ready(path=None, log=".", within=30))) as launch:
        assert launch.log() == "[secret:key.main without its end]\n"


def test_what_a_running_target_writes_is_heard() -> None:
    ready = "import time; print('up', flush=True); time.sleep(600)"
    with up(started(("{python}", "-c", ready), ready=Ready(path=None, log=".", within=30))) as launch:
        assert launch.hearing.text() == "up\n"


def test_target_given_by_url_is_not_started(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CANNED_KEY", KEY)
    with serving(engine, answering(canned)) as url:
        target = target_at(url, keys=(Key("main", "valid", ("solver",), FromEnvironment("CANNED_KEY")),))
        with up(target) as launch:
            assert (launch.process, launch.log(), dict(launch.live.keys)) == (None, "", {"main": KEY})
        assert httpx.get(url, trust_env=False).status_code == 401
