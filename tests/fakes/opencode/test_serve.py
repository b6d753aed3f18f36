from __future__ import annotations

import json
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from harness.fakes.opencode.serve import configuration, main
from harness.fakes.opencode.shim import write_shim


def write(path: Path, **settings: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(settings), encoding="utf-8")


def test_settings_come_from_home_then_the_named_file_then_the_folder_then_the_environment(tmp_path: Path) -> None:
    home, folder, named = tmp_path / "home", tmp_path / "folder", tmp_path / "named.json"
    write(home / ".config/opencode/opencode.json", a=1, b=1, c=1, d=1)
    write(named, b=2, c=2, d=2)
    write(folder / "opencode.json", c=3, d=3)
    environ = {"HOME": str(home), "OPENCODE_CONFIG": str(named), "OPENCODE_CONFIG_CONTENT": '{"d": 4}'}
    assert configuration(environ, folder) == {"a": 1, "b": 2, "c": 3, "d": 4}


def test_a_variable_in_the_settings_is_filled_in(tmp_path: Path) -> None:
    write(tmp_path / "opencode.json", key=["{env:KEY}!", "{env:NONE}"])
    assert configuration({"HOME": str(tmp_path), "KEY": "secret"}, tmp_path) == {"key": ["secret!", ""]}


def test_settings_that_are_not_json_end_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "opencode.json").write_text("{", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert main(["serve"]) == 1


def test_settings_may_hold_comments_and_a_last_comma(tmp_path: Path) -> None:
    text = '// of mine\n{"url": "http://h//x", /* a list */ "list": [1, 2,], "text": "a \\" // b, ]",}'
    (tmp_path / "opencode.jsonc").write_text(text, encoding="utf-8")
    wanted = {"url": "http://h//x", "list": [1, 2], "text": 'a " // b, ]'}
    assert configuration({"HOME": str(tmp_path)}, tmp_path) == wanted


@pytest.mark.parametrize("text", ['{"provider": {"litellm": {"models": []}}}', '{"agent": []}', "[]"])
def test_settings_of_another_shape_end_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    (tmp_path / "opencode.json").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert main(["serve"]) == 1


def test_an_option_that_there_is_not_ends_it() -> None:
    with pytest.raises(SystemExit) as ended:
        main(["serve", "--nonsense"])
    assert ended.value.code == 1


def test_an_open_server_says_so_before_it_says_where_it_is(tmp_path: Path) -> None:
    command = [str(write_shim(tmp_path / "bin")), "serve", "--pure", "--cors", "http://a", "http://b"]
    with subprocess.Popen(command, env={"HOME": str(tmp_path)}, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as one:
        assert one.stdout is not None
        said = [one.stdout.readline() for _ in range(2)]
        one.kill()
    assert said[0].startswith("Warning: OPENCODE_SERVER_PASSWORD is not set")
    assert said[1].startswith("opencode server listening on http://127.0.0.1:")


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The shim, started in a folder of its own, and its URL."""
    shim = write_shim(tmp_path / "bin")
    environ = {"HOME": str(tmp_path), "OPENCODE_SERVER_PASSWORD": "secret", "OPENCODE_SERVER_USERNAME": "somebody"}
    command = [str(shim), "serve", "--port", "0", "--hostname", "127.0.0.1"]
    with subprocess.Popen(command, env=environ, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = re.search(r"opencode server listening on (http://\S+)", process.stdout.readline())
        assert line is not None
        yield process, line[1]
        process.kill()


def test_the_shim_serves_with_the_user_and_password_of_the_environment(
    served: tuple[subprocess.Popen[str], str],
) -> None:
    url = f"{served[1]}/global/health"
    refused = httpx.get(url, auth=("opencode", "secret"), trust_env=False)
    taken = httpx.get(url, auth=("somebody", "secret"), trust_env=False)
    assert (refused.status_code, taken.status_code) == (401, 200)


def test_the_shim_ends_at_sigterm_at_once(served: tuple[subprocess.Popen[str], str]) -> None:
    served[0].terminate()
    assert served[0].wait(5) == -signal.SIGTERM
