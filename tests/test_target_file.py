from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.fakes.kilo.rules import NEWEST
from harness.pytest_run import collect
from harness.stand_ins import KiloStandIn, StandIn
from harness.target import Agent, Policies, Ready, Start
from harness.target_file import find, from_url, load
from harness.target_keys import (
    OPENCODE_KEYS,
    Expiring,
    FromCommand,
    FromEnvironment,
    FromRequest,
    Listing,
    Minting,
    Request,
)
from harness.waiver import Waiver
from tests.target_texts import (
    AGENT,
    AGENT_HEAD,
    HEAD,
    KEY,
    KEY_HEAD,
    MINT,
    MINTING,
    MODEL_HEAD,
    REVOKED,
    SIGNATURE,
    START,
    URL,
    WAIVER,
    write,
)

DOCS = Path(__file__).parent.parent / "docs" / "targets.md"


def test_a_byte_order_mark_is_accepted(tmp_path: Path) -> None:
    assert load(write(tmp_path, "\ufeff" + HEAD + URL + AGENT + KEY)).name == "n"


def test_a_minimal_file_has_the_documented_defaults(tmp_path: Path) -> None:
    target = load(write(tmp_path, HEAD + URL + AGENT + KEY))
    assert (target.deadline, target.abort_grace, target.capabilities) == (60.0, 1.0, ())
    assert target.policies == Policies(None, None, None)
    assert target.ready == Ready(path="/v1/models", status=None, log=None, within=15.0)
    assert target.agents == (Agent("a", provider=None, model=None, no_model=False),)
    assert (target.url, target.start) == ("http://h", None)


def test_the_url_of_a_file_is_its_base(tmp_path: Path) -> None:
    assert load(write(tmp_path, HEAD + 'url = "http://h/v1/"\n' + AGENT + KEY)).url == "http://h"


def test_a_log_takes_the_place_of_the_default_path(tmp_path: Path) -> None:
    target = load(write(tmp_path, HEAD + START + '[ready]\nlog = "up {1}"\n' + AGENT + KEY))
    assert target.ready == Ready(path=None, log="up {1}")


def test_a_model_is_split_at_its_first_slash(tmp_path: Path) -> None:
    target = load(write(tmp_path, HEAD + URL + AGENT + 'model = "litellm/vendor/large-1"\n' + KEY))
    assert (target.agents[0].provider, target.agents[0].model) == ("litellm", "vendor/large-1")


def test_a_key_may_come_from_a_command(tmp_path: Path) -> None:
    target = load(write(tmp_path, HEAD + URL + AGENT + KEY_HEAD + 'command = ["./mint.sh", "a"]\n'))
    assert target.keys[0].source == FromCommand(("./mint.sh", "a"))


def test_key_id_is_known_in_revoke_when_the_mint_has_an_id_pointer(tmp_path: Path) -> None:
    mint = MINT + 'id_pointer = "/id"\n[keys.revoke]\npath = "/{key_id}/{key}"\n'
    target = load(write(tmp_path, HEAD + URL + AGENT + REVOKED + mint))
    assert target.keys[1].revoke == Request("POST", "/{key_id}/{key}", {}, None)


def test_a_minting_with_everything_is_read_whole(tmp_path: Path) -> None:
    more = (
        'id_pointer = "/id"\nstore = "{work}/db"\nagent_headers = { T = "{env:T}" }\n'
        'list = { path = "/keys", pointer = "/data" }\nrevoke = { path = "/{key_id}" }\n'
        "expiring = { body = { ttl = 1 }, within = 1 }\n"
    )
    assert load(write(tmp_path, HEAD + URL + AGENT + KEY + MINTING + more)).mint == Minting(
        path="/keys",
        headers={},
        pointer="/key",
        id_pointer="/id",
        agent_headers={"T": "{env:T}"},
        listing=Listing("/keys", "/data"),
        revoke=Request("POST", "/{key_id}", {}),
        expiring=Expiring({"ttl": 1}, 1.0),
        store="{work}/db",
    )


@pytest.mark.parametrize("until", ["2026-12-31", '"2026-12-31"'])
def test_a_waiver_is_read_with_its_end_as_a_date_or_a_string(tmp_path: Path, until: str) -> None:
    text = HEAD + URL + AGENT + KEY + WAIVER.replace("2026-12-31", until) + 'check = "c"\n'
    assert load(write(tmp_path, text)).waivers == (
        Waiver("AE-AUTH-1", "Jo", "r", "https://h/1", "2026-12-31", SIGNATURE, "c", line=11),
    )


def test_a_file_without_minting_has_none(tmp_path: Path) -> None:
    assert load(write(tmp_path, HEAD + URL + AGENT + KEY)).mint is None


def test_the_rate_cap_of_a_key_is_read(tmp_path: Path) -> None:
    target = load(write(tmp_path, HEAD + URL + AGENT + KEY + "rate_cap = 2\n"))
    assert target.facts.keys[0].rate_cap == 2


def test_relative_paths_are_relative_to_the_files_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, HEAD + URL + AGENT + KEY)
    monkeypatch.chdir(tmp_path.parent)
    target = load(Path(tmp_path.name) / "my.toml")
    assert (target.folder, target.source) == (tmp_path, f"{tmp_path.name}/my.toml")


def test_the_example_of_the_documentation_loads_whole(tmp_path: Path) -> None:
    example = re.search(r"```toml\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    assert example is not None
    target = load(write(tmp_path, example[1]))
    assert target.start == Start(
        command=("{python}", "app.py", "--port", "{port}"),
        env={
            "OPENCODE_URL": "{opencode_url}",
            "OPENCODE_PASSWORD": "{opencode_password}",
            "DATA": "{work}/data",
        },
        cwd=".",
    )
    assert target.ready == Ready("/v1/models", 401, "listening on", 15.0)
    assert target.policies == Policies("reject", "accept", "full")
    assert target.agents[1] == Agent("unfinished", no_model=True)
    assert target.keys[0].source == FromRequest(
        Request(
            method="POST",
            path="/api/agent-model-keys",
            headers={"Authorization": "Bearer {env:OWNER_TOKEN}"},
            body={"agent_ids": ["research", "unfinished"], "expires_in": 3600},
        ),
        pointer="/key",
    )
    assert target.keys[1].source == FromEnvironment("MY_EXPIRED_KEY")
    assert [key.state for key in target.keys] == ["valid", "expired", "revoked"]


def test_a_bare_url_has_one_valid_key_from_the_environment_and_unknown_agents() -> None:
    target = from_url("http://h:9000/v1/")
    assert (target.url, target.name, target.source) == ("http://h:9000",) * 3
    assert (target.agents, target.start) == ((), None)
    assert [(key.name, key.state, key.agents, key.source) for key in target.keys] == [
        ("main", "valid", (), FromEnvironment("TURNPROOF_API_KEY"))
    ]


def test_find_takes_a_url() -> None:
    assert find("https://h").url == "https://h"


def test_find_takes_a_file(tmp_path: Path) -> None:
    assert find(str(write(tmp_path, HEAD + URL + AGENT + KEY))).name == "n"


def test_find_prefers_a_file_that_looks_like_a_url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, HEAD + URL + AGENT + KEY).rename(tmp_path / "localhost")
    assert find("localhost").name == "n"


@pytest.mark.parametrize(
    "text", ["localhost", "localhost:9000", "h:80/v1", "127.0.0.1:80", "[::1]:80", "example.com/v1"]
)
def test_find_tells_a_url_without_its_scheme(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        find(text)
    assert caught.value.message == f"{text}: no such file"
    assert caught.value.hint == f"For a URL, write its scheme: http://{text}"


@pytest.mark.parametrize("text", ["my.toml", "targets/my.toml", "my"])
def test_find_tells_a_missing_file(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError) as caught:
        find(text)
    assert caught.value.hint == "Name a target file, or an http:// or https:// URL."


@pytest.mark.parametrize("text", ["http:", "http://", "ftp://h", "https:/h"])
def test_find_tells_a_broken_url(text: str) -> None:
    with pytest.raises(UsageError, match=r"^the URL "):
        find(text)


def test_a_model_server_is_read_whole(tmp_path: Path) -> None:
    text = (
        MODEL_HEAD
        + 'window = 4096\nreasoning_field = "both"\ncaptures = "{work}/c"\nupstream = "vllm-0.31"\n'
        + 'capabilities = ["reasoning", "capture"]\n[policies]\nover_window = "clamp"\n'
        + START
        + AGENT
        + KEY
    )
    target = load(write(tmp_path, text))
    assert (target.kind, target.window, target.reasoning_field) == ("model-server", 4096, "both")
    assert (target.captures, target.upstream) == ("{work}/c", "vllm-0.31")
    assert (target.policies.over_window, target.capabilities) == ("clamp", ("reasoning", "capture"))
    assert type(target.facts).from_json(target.facts.to_json()) == target.facts


def test_a_model_server_at_a_url_is_up_when_it_lists_its_models() -> None:
    target = from_url("http://h/v1", "model-server")
    assert (target.kind, target.url, target.ready.path) == ("model-server", "http://h", None)
    assert target.capabilities == ("models",)


def test_an_opencode_server_is_read_whole(tmp_path: Path) -> None:
    head = 'kind = "opencode-server"\nname = "n"\n'
    found = [
        load(write(tmp_path, f'{head}opencode = "{named}"\n')) for named in ("1.18.33", "stand-in", sys.executable)
    ]
    assert [target.opencode for target in found] == ["1.18.33", StandIn(), Path(sys.executable)]
    assert {target.keys for target in found} == {OPENCODE_KEYS}


def test_a_kilo_cli_is_read_whole(tmp_path: Path) -> None:
    (tmp_path / "own").symlink_to(sys.executable)
    head = 'kind = "kilo-cli"\nname = "n"\n'
    found = [load(write(tmp_path, f'{head}kilo = "{named}"\n')) for named in ("7.7.9", "stand-in", "./own")]
    assert [target.kilo for target in found] == ["7.7.9", KiloStandIn(NEWEST), (str(tmp_path / "own"),)]


def test_an_executable_behind_an_agent_is_relative_to_the_file(tmp_path: Path) -> None:
    (tmp_path / "own").symlink_to(sys.executable)
    start = '[start]\ncommand = ["run", "{config}"]\n'
    assert load(write(tmp_path, f'{AGENT_HEAD}kilo = "./own"\n{start}')).kilo_behind == tmp_path / "own"
    assert load(write(tmp_path, AGENT_HEAD + start)).kilo is None


def test_the_waiver_of_the_documentation_names_a_check(tmp_path: Path) -> None:
    (example,) = re.findall(r"```toml\n(\[\[waivers\]\]\n.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    (waiver,) = load(write(tmp_path, HEAD + URL + AGENT + KEY + example)).waivers
    named = [check for check in collect("agent_endpoint") if waiver.names(check.check, check.requirements)]
    assert len(named) == 1
