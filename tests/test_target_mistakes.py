"""What is told of each mistake in a target file."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.target_file import load
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

KNOWN_WITH_URL = "{python}, {url}, {opencode_url}, {opencode_password}, {model_url}, {deadline}, {work}, {env:NAME}"
KNOWN_WITH_START = (
    KNOWN_WITH_URL.replace("{python},", "{python}, {port},")
    .replace("{deadline}", "{shims}, {deadline}")
    .replace("{work},", "{work}, {owner_secret}, {registry_secret},")
)
KNOWN_IN_REVOKE = KNOWN_WITH_URL.replace("{work},", "{work}, {key},")
SECRET = "secrets come from environment variables only: write {env:NAME}"


def _errors(path: Path) -> list[str]:
    with pytest.raises(UsageError) as caught:
        load(path)
    return caught.value.message.replace(str(path), path.name).split("\n")


ERRORS = {
    # the root
    "kind unknown": (
        'kind = "x"\nname = "n"\n' + URL + AGENT + KEY,
        '1: kind: "x" is not one of agent-endpoint, kilo-agent, opencode-server, kilo-cli, model-server',
    ),
    "kind missing": ('name = "n"\n' + URL + AGENT + KEY, '1: kind is missing: add kind = "agent-endpoint"'),
    "name missing": (
        'kind = "agent-endpoint"\n' + URL + AGENT + KEY,
        '1: name is missing: add name = "my endpoint"',
    ),
    "name empty": (
        'kind = "agent-endpoint"\nname = ""\n' + URL + AGENT + KEY,
        "2: name: must not be empty",
    ),
    "name not text": (
        'kind = "agent-endpoint"\nname = 1\n' + URL + AGENT + KEY,
        "2: name: must be a string, not an integer",
    ),
    "key unknown and near": (
        HEAD + URL + "deadlin = 1\n" + AGENT + KEY,
        '4: deadlin: unknown key; did you mean "deadline"?',
    ),
    "key unknown and far": (
        HEAD + URL + "zzz = 1\n" + AGENT + KEY,
        "4: zzz: unknown key; known here: kind, name, url, start, ready, opencode, kilo, interface, configuration, "
        "agents, keys, mint, deadline, abort_grace, capabilities, policies, window, reasoning_field, captures, "
        "upstream, waivers",
    ),
    "key unknown and quoted": (
        HEAD + URL + '[policies]\n"his tory" = 1\n' + AGENT + KEY,
        '5: policies."his tory": unknown key; did you mean "history"?',
    ),
    "neither url nor start": (
        HEAD + AGENT + KEY,
        '1: url or start is missing: add url = "http://…", or a [start] table',
    ),
    "both url and start": (HEAD + URL + START + AGENT + KEY, "4: start: excludes url: keep one of them"),
    "url without scheme": (
        HEAD + 'url = "h:80"\n' + AGENT + KEY,
        "3: url: the URL does not begin with http:// or https://. Write it like http://127.0.0.1:9000.",
    ),
    "url with a password": (
        HEAD + 'url = "http://me:hunter2@h"\n' + AGENT + KEY,
        "3: url: the URL holds a user or password. Leave them out: a key goes into [[keys]].",
    ),
    "deadline zero": (
        HEAD + URL + "deadline = 0\n" + AGENT + KEY,
        "4: deadline: 0 is out of range: it must be more than 0",
    ),
    "deadline endless": (
        HEAD + URL + "deadline = 100000\n" + AGENT + KEY,
        "4: deadline: 100000 is out of range: it must be at most 86400",
    ),
    "deadline not a number": (
        HEAD + URL + "deadline = nan\n" + AGENT + KEY,
        "4: deadline: must be a finite number",
    ),
    "deadline a date": (
        HEAD + URL + "deadline = 2020-01-01\n" + AGENT + KEY,
        "4: deadline: must be a number, not a date",
    ),
    "deadline a boolean": (
        HEAD + URL + "deadline = true\n" + AGENT + KEY,
        "4: deadline: must be a number, not a boolean",
    ),
    "abort_grace negative": (
        HEAD + URL + "abort_grace = -1\n" + AGENT + KEY,
        "4: abort_grace: -1 is out of range: it must be at least 0",
    ),
    "capability unknown": (
        HEAD + URL + 'capabilities = [\n"mint",\n"mnt"]\n' + AGENT + KEY,
        '6: capabilities[1]: "mnt" is not one of mint, rate_cap, incremental, launches',
    ),
    "capability unknown of a model server": (
        MODEL_HEAD + URL + 'capabilities = ["mint_"]\n' + AGENT + KEY,
        '4: capabilities[0]: "mint_" is not one of reasoning, capture, token_ids, virtual_keys, models',
    ),
    "capability twice": (
        HEAD + URL + 'capabilities = [\n"mint",\n"mint"]\n' + AGENT + KEY,
        '6: capabilities[1]: "mint" is here twice: keep one',
    ),
    "policy unknown": (
        HEAD + URL + '[policies]\nhistory = "ful"\n' + AGENT + KEY,
        '5: policies.history: "ful" is not one of full, last_user',
    ),
    # start and ready
    "start without command": (
        HEAD + "[start]\n" + AGENT + KEY,
        '3: start: command is missing: add command = ["{python}", "app.py", "--port", "{port}"]',
    ),
    "command text": (
        HEAD + '[start]\ncommand = "run"\n' + AGENT + KEY,
        "4: start.command: must be an array, not a string",
    ),
    "command empty": (HEAD + "[start]\ncommand = []\n" + AGENT + KEY, "4: start.command: must not be empty"),
    "environment name": (
        HEAD + START + 'env = { "A=B" = "" }\n' + AGENT + KEY,
        '5: start.env: "A=B" is not the name of an environment variable: write letters, digits and _',
    ),
    "environment number": (
        HEAD + START + "env = { A = 1 }\n" + AGENT + KEY,
        "5: start.env.A: must be a string, not an integer",
    ),
    "ready unknown": (
        HEAD + URL + "[ready]\nwithn = 1\n" + AGENT + KEY,
        '5: ready.withn: unknown key; did you mean "within"?',
    ),
    "ready path": (
        HEAD + URL + '[ready]\npath = "health"\n' + AGENT + KEY,
        '5: ready.path: "health" is not a path under the target: begin it with /',
    ),
    "ready status": (
        HEAD + URL + "[ready]\nstatus = 600\n" + AGENT + KEY,
        "5: ready.status: 600 is out of range: it must be at most 599",
    ),
    "ready log of a url": (
        HEAD + URL + '[ready]\nlog = "up"\n' + AGENT + KEY,
        "5: ready.log: only a target with [start] has a log: use path",
    ),
    "ready log broken": (
        HEAD + START + '[ready]\nlog = "("\n' + AGENT + KEY,
        "6: ready.log: is not a regular expression: missing ), unterminated subpattern at position 0",
    ),
    "ready status without path": (
        HEAD + START + '[ready]\nlog = "up"\nstatus = 200\n' + AGENT + KEY,
        "7: ready.status: needs path: add the path that answers so",
    ),
    # agents
    "agents missing": (HEAD + URL + KEY, "1: agents is missing: add an [[agents]] table with an id"),
    "agents empty": (HEAD + URL + "agents = []\n" + KEY, "4: agents: must not be empty"),
    "agent without id": (
        HEAD + URL + AGENT + "[[agents]]\n" + KEY,
        '6: agents[1]: id is missing: add id = "research"',
    ),
    "agent twice": (
        HEAD + URL + AGENT + AGENT + KEY,
        '7: agents[1].id: "a" is taken by agents[0]: choose another',
    ),
    "model without provider": (
        HEAD + URL + AGENT + 'model = "large-1"\n' + KEY,
        '6: agents[0].model: "large-1" is not a provider and a model: write them like "litellm/vendor/large-1"',
    ),
    "model and no_model": (
        HEAD + URL + AGENT + 'model = "p/m"\nno_model = true\n' + KEY,
        "7: agents[0].no_model: excludes model: keep one of them",
    ),
    "no_model false": (
        HEAD + URL + AGENT + "no_model = false\n" + KEY,
        "6: agents[0].no_model: must be true, or left out",
    ),
    # keys
    "keys missing": (
        HEAD + URL + AGENT,
        "1: keys is missing: add a [[keys]] table with name, state, agents and a source",
    ),
    "keys a table": (
        HEAD + URL + AGENT + "[keys]\n",
        "6: keys: must be an array, not a table",
    ),
    "state unknown": (
        HEAD + URL + AGENT + KEY.replace("valid", "expried"),
        '8: keys[0].state: "expried" is not one of valid, expired, revoked',
    ),
    "no key valid": (
        HEAD + URL + AGENT + KEY.replace("valid", "expired"),
        '6: keys: no key is valid: at least one needs state = "valid"',
    ),
    "key twice": (
        HEAD + URL + AGENT + KEY + KEY,
        '12: keys[1].name: "main" is taken by keys[0]: choose another',
    ),
    "agent of a key near": (
        HEAD + URL + '[[agents]]\nid = "writer"\n' + KEY.replace('"a"', '\n"writr"'),
        '10: keys[0].agents[0]: "writr" is not the id of an agent; did you mean "writer"?',
    ),
    "agent of a key far": (
        HEAD + URL + AGENT + KEY.replace('"a"', '"zzz"'),
        '9: keys[0].agents[0]: "zzz" is not the id of an agent; known here: a',
    ),
    "key without agents": (
        HEAD + URL + AGENT + KEY.replace('"a"', ""),
        "9: keys[0].agents: must not be empty",
    ),
    "key without source": (
        HEAD + URL + AGENT + KEY_HEAD,
        "6: keys[0]: has no source: add one of env, command, mint",
    ),
    "key with two sources": (
        HEAD + URL + AGENT + KEY + MINT,
        "11: keys[0].mint: excludes env: keep one source of the key",
    ),
    "key environment name": (
        HEAD + URL + AGENT + KEY.replace("MY_KEY", "my key"),
        "10: keys[0].env: this value is not the name of an environment variable: write letters, digits and _",
    ),
    "mint without pointer": (
        HEAD + URL + AGENT + KEY_HEAD + '[keys.mint]\npath = "/keys"\n',
        '10: keys[0].mint: pointer is missing: add pointer = "/key"',
    ),
    "pointer": (
        HEAD + URL + AGENT + KEY_HEAD + MINT.replace('"/key"', '"key"'),
        '12: keys[0].mint.pointer: "key" is not a JSON pointer (RFC 6901): write it like "/key"',
    ),
    "method": (
        HEAD + URL + AGENT + KEY_HEAD + MINT + 'method = "post"\n',
        '13: keys[0].mint.method: "post" is not one of GET, POST, PUT, PATCH, DELETE',
    ),
    "date in a body": (
        HEAD + URL + AGENT + KEY_HEAD + MINT + "body = { until = 2030-01-01 }\n",
        "13: keys[0].mint.body.until: JSON has no dates and times: write it as a string",
    ),
    "infinity in a body": (
        HEAD + URL + AGENT + KEY_HEAD + MINT + "body = [inf]\n",
        "13: keys[0].mint.body[0]: must be a finite number",
    ),
    "revoke of a valid key": (
        HEAD + URL + AGENT + KEY + '[keys.revoke]\npath = "/r"\n',
        '11: keys[0].revoke: is for a key with state = "revoked" only: remove it',
    ),
    "rate_cap too large": (
        HEAD + URL + AGENT + KEY + "rate_cap = 11\n",
        "11: keys[0].rate_cap: 11 is out of range: it must be at most 10",
    ),
    # mint
    "minting without headers": (
        HEAD + URL + AGENT + KEY + MINTING.replace("headers = {}\n", ""),
        '11: mint: headers is missing: add headers = { Authorization = "Bearer {env:OWNER_TOKEN}" }',
    ),
    "list without pointer": (
        HEAD + URL + AGENT + KEY + MINTING + '[mint.list]\npath = "/keys"\n',
        '15: mint.list: pointer is missing: add pointer = "/data"',
    ),
    "expiring without within": (
        HEAD + URL + AGENT + KEY + MINTING + "[mint.expiring]\nbody = {}\n",
        "15: mint.expiring: within is missing: add within = 2",
    ),
    "key_id of a minting without id_pointer": (
        HEAD + URL + AGENT + KEY + MINTING + '[mint.revoke]\npath = "/{key_id}"\n',
        "16: mint.revoke.path: {key_id} is not known here: write {{ and }} for braces, or one of " + KNOWN_IN_REVOKE,
    ),
    "registry secret of a url": (
        HEAD + URL + AGENT + KEY + MINTING + 'agent_headers = { A = "{registry_secret}" }\n',
        "15: mint.agent_headers.A: {registry_secret} is not known here: "
        "write {{ and }} for braces, or one of " + KNOWN_WITH_URL,
    ),
    "secret in agent_headers": (
        HEAD + URL + AGENT + KEY + MINTING + 'agent_headers = { Authorization = "Basic aHVudGVyMg==" }\n',
        f"15: mint.agent_headers.Authorization: {SECRET}",
    ),
    # placeholders
    "placeholder unknown": (
        HEAD + '[start]\ncommand = ["run",\n"{prt}"]\n' + AGENT + KEY,
        "5: start.command[1]: {prt} is not known here; did you mean {port}?",
    ),
    "placeholder in env": (
        HEAD + START + '[start.env]\nA = "${HOME}"\n' + AGENT + KEY,
        "6: start.env.A: {HOME} is not known here: write {{ and }} for braces, or one of " + KNOWN_WITH_START,
    ),
    "password of an opencode that is not there": (
        HEAD + START + '[start.env]\nA = "{model_url}"\nB = "{opencode_password}"\n' + AGENT + KEY,
        "7: start.env.B: {opencode_password} comes with {opencode_url}: let start.command or start.env hold that",
    ),
    "variable without a name": (
        HEAD + START + 'cwd = "{env:}"\n' + AGENT + KEY,
        "5: start.cwd: {env:} is not known here: write {{ and }} for braces, or one of " + KNOWN_WITH_START,
    ),
    "single brace": (
        HEAD + START + 'cwd = "a{b"\n' + AGENT + KEY,
        "5: start.cwd: a single brace: write {{ or }} for a brace itself",
    ),
    "port of a url": (
        HEAD + URL + AGENT + KEY_HEAD + 'command = ["mint", "{port}"]\n',
        "10: keys[0].command[1]: {port} is not known here: write {{ and }} for braces, or one of " + KNOWN_WITH_URL,
    ),
    "key outside revoke": (
        HEAD + URL + AGENT + KEY_HEAD + MINT + 'body = { key = "{key}" }\n',
        "13: keys[0].mint.body.key: {key} is not known here: write {{ and }} for braces, or one of " + KNOWN_WITH_URL,
    ),
    "placeholder that may be a secret": (
        HEAD + URL + AGENT + KEY_HEAD + MINT + 'body = { password = "{hunter2hunter2}" }\n',
        "13: keys[0].mint.body.password: this placeholder is not known here: "
        "write {{ and }} for braces, or one of " + KNOWN_WITH_URL,
    ),
    "key_id without id_pointer": (
        HEAD + URL + AGENT + REVOKED + 'env = "OLD"\n[keys.revoke]\npath = "/{key_id}"\n',
        "17: keys[1].revoke.path: {key_id} is not known here: write {{ and }} for braces, or one of " + KNOWN_IN_REVOKE,
    ),
    "placeholder in a header": (
        HEAD + URL + AGENT + KEY_HEAD + MINT + 'headers.X = "{x}"\n',
        "13: keys[0].mint.headers.X: {x} is not known here: write {{ and }} for braces, or one of " + KNOWN_WITH_URL,
    ),
    # secrets, and what no value may hold
    "secret shape": (HEAD + START + 'cwd = "sk-abcdefgh1234"\n' + AGENT + KEY, f"5: start.cwd: {SECRET}"),
    "secret name": (
        HEAD + START + 'env = { DB_PASSWORD = "hunter2hunter2" }\n' + AGENT + KEY,
        f"5: start.env.DB_PASSWORD: {SECRET}",
    ),
    "secret header": (
        HEAD + URL + AGENT + KEY_HEAD + MINT + 'headers = { Authorization = "Basic aHVudGVyMg==" }\n',
        f"13: keys[0].mint.headers.Authorization: {SECRET}",
    ),
    "secret for a name": (
        HEAD + URL + AGENT + KEY.replace("MY_KEY", "AKIAABCDEFGHIJKLMNOP"),
        "10: keys[0].env: secrets come from environment variables only: write only the variable's name",
    ),
    "key of another kind": (
        HEAD + URL + "window = 4096\n" + AGENT + KEY,
        '4: window: is for kind = "model-server" only: remove it',
    ),
    "capability of another kind": (
        HEAD + URL + 'capabilities = ["capture"]\n' + AGENT + KEY,
        '4: capabilities[0]: is for kind = "model-server" only: remove it',
    ),
    "policy of another kind": (
        MODEL_HEAD + URL + '[policies]\nhistory = "full"\n' + AGENT + KEY,
        '5: policies.history: is for kind = "agent-endpoint" only: remove it',
    ),
    "face unknown": (
        MODEL_HEAD + URL + 'upstream = "vllm"\n' + AGENT + KEY,
        "4: upstream: the model server has no face 'vllm'; its faces are: plain, openai, gym, proxy, vllm-VERSION",
    ),
    "url of a binary": (
        'kind = "kilo-cli"\nname = "n"\nkilo = "7.7.9"\n' + URL,
        '4: url: is for kind = "agent-endpoint" or "model-server" only: remove it',
    ),
    "start of a binary": (
        'kind = "kilo-cli"\nname = "n"\nkilo = "7.7.9"\n' + START,
        '4: start: is for kind = "agent-endpoint" or "model-server" or "kilo-agent" only: remove it',
    ),
    "opencode missing": (
        'kind = "opencode-server"\nname = "n"\n',
        '1: opencode is missing: add opencode = "1.18.33", or the path of an executable, or "stand-in"',
    ),
    "opencode unknown": (
        'kind = "opencode-server"\nname = "n"\nopencode = "newest"\n',
        '3: opencode: "newest" is not stand-in, a version such as 1.18.33, or the path of an executable '
        "such as ./opencode",
    ),
    "opencode not there": (
        'kind = "opencode-server"\nname = "n"\nopencode = "/no/opencode"\n',
        "3: opencode: there is no executable file /no/opencode: build it, or mend the path",
    ),
    "kilo missing": (
        'kind = "kilo-cli"\nname = "n"\n',
        '1: kilo is missing: add kilo = "7.7.9", or the path of an executable, or "stand-in"',
    ),
    "kilo unknown": (
        'kind = "kilo-cli"\nname = "n"\nkilo = "newest"\n',
        '3: kilo: "newest" is not stand-in, a version such as 7.7.9, or the path of an executable such as ./kilo',
    ),
    "kilo not there": (
        'kind = "kilo-cli"\nname = "n"\nkilo = "/no/kilo"\n',
        "3: kilo: there is no executable file /no/kilo: build it, or mend the path",
    ),
    # agents that wrap the Kilo CLI
    "agent without start": (
        AGENT_HEAD,
        "1: start is missing: add a [start] table",
    ),
    "agent by url": (
        AGENT_HEAD + URL,
        '3: url: is for kind = "agent-endpoint" or "model-server" only: remove it',
    ),
    "agent without configuration": (
        AGENT_HEAD + START,
        "3: start: does not hold {config}, the file of the configuration to start with: "
        'put it into command or env, or write configuration = "environment"',
    ),
    "agent asked in no way": (
        AGENT_HEAD + 'interface = "cli"\n[start]\ncommand = ["run", "{config}"]\n',
        '3: interface: "cli" is not one of responses, command',
    ),
    "agent told in no way": (
        AGENT_HEAD + 'configuration = "yaml"\n[start]\ncommand = ["run", "{config}"]\n',
        '3: configuration: "yaml" is not one of file, environment',
    ),
    "agent that is a command and ready": (
        AGENT_HEAD + 'interface = "command"\n[start]\ncommand = ["run", "{config}"]\n[ready]\n',
        '6: ready: is not for interface = "command", which is started for each prompt: remove it',
    ),
    "prompt of a server": (
        AGENT_HEAD + '[start]\ncommand = ["run", "{config}", "{prompt}"]\n',
        "4: start.command[2]: {prompt} is not known here: write {{ and }} for braces, or one of {python}, {port}, "
        "{url}, {model_url}, {resources_url}, {config}, {deadline}, {work}, {owner_secret}, {registry_secret}, "
        "{env:NAME}",
    ),
    "port of a command": (
        AGENT_HEAD + 'interface = "command"\n[start]\ncommand = ["run", "{config}", "{port}"]\n',
        "5: start.command[2]: {port} is not known here: write {{ and }} for braces, or one of {python}, "
        "{model_url}, {resources_url}, {config}, {prompt}, {deadline}, {work}, {owner_secret}, {registry_secret}, "
        "{env:NAME}",
    ),
    "placeholder unknown in captures": (
        MODEL_HEAD + URL + 'captures = "{wrk}"\n' + AGENT + KEY,
        "4: captures: {wrk} is not known here; did you mean {work}?",
    ),
    # waivers
    "waiver without an owner": (
        HEAD + URL + AGENT + KEY + WAIVER.replace('owner = "Jo"\n', ""),
        '11: waivers[0]: owner is missing: add owner = "who answers for it, a person or a team"',
    ),
    "waiver without a reason": (
        HEAD + URL + AGENT + KEY + WAIVER.replace('reason = "r"\n', ""),
        '11: waivers[0]: reason is missing: add reason = "why the failure has to stay for now"',
    ),
    "waiver without a link": (
        HEAD + URL + AGENT + KEY + WAIVER.replace('link = "https://h/1"\n', ""),
        '11: waivers[0]: link is missing: add link = "https://…", where it is tracked',
    ),
    "waiver without an end": (
        HEAD + URL + AGENT + KEY + WAIVER.replace("until = 2026-12-31\n", ""),
        "11: waivers[0]: until is missing: add until = 2026-12-31, its last day",
    ),
    "waiver without a signature": (
        HEAD + URL + AGENT + KEY + WAIVER.replace(f'signature = "{SIGNATURE}"\n', ""),
        "11: waivers[0]: signature is missing: add signature, as run --write-waivers or a report writes it",
    ),
    "waiver without a requirement": (
        HEAD + URL + AGENT + KEY + WAIVER.replace('requirement = "AE-AUTH-1"\n', ""),
        '11: waivers[0]: requirement is missing: add requirement = "AE-STREAM-3"',
    ),
    "waiver with an empty owner": (
        HEAD + URL + AGENT + KEY + WAIVER.replace('"Jo"', '""'),
        "13: waivers[0].owner: must not be empty",
    ),
    "waiver of no requirement": (
        HEAD + URL + AGENT + KEY + WAIVER.replace("AE-AUTH-1", "AUTH"),
        '12: waivers[0].requirement: "AUTH" is not the id of a requirement: write it like AE-STREAM-3',
    ),
    "waiver with a link that is none": (
        HEAD + URL + AGENT + KEY + WAIVER.replace("https://h/1", "TICKET-1"),
        '15: waivers[0].link: "TICKET-1" is not a link to where it is tracked: begin it with https:// or http://',
    ),
    "waiver that ends on no day": (
        HEAD + URL + AGENT + KEY + WAIVER.replace("2026-12-31", '"2026-02-30"'),
        '16: waivers[0].until: "2026-02-30" is not a date: write it like 2026-12-31',
    ),
    "waiver that ends at a time": (
        HEAD + URL + AGENT + KEY + WAIVER.replace("2026-12-31", "2026-12-31T12:00:00"),
        "16: waivers[0].until: must be a date, not a date with a time",
    ),
    "waiver that ends with a number": (
        HEAD + URL + AGENT + KEY + WAIVER.replace("2026-12-31", "2026"),
        "16: waivers[0].until: must be a date, not an integer",
    ),
    "waiver with a signature that is none": (
        HEAD + URL + AGENT + KEY + WAIVER.replace(SIGNATURE, "x"),
        '17: waivers[0].signature: "x" is not the signature of a failure: '
        "copy its 16 digits from a report, or let run --write-waivers write it",
    ),
    "waiver twice": (
        HEAD + URL + AGENT + KEY + WAIVER + WAIVER,
        "18: waivers[1]: is for the same failure as waivers[0]: keep one of them",
    ),
    "waiver with an unknown key": (
        HEAD + URL + AGENT + KEY + WAIVER + 'chek = "x"\n',
        '18: waivers[0].chek: unknown key; did you mean "check"?',
    ),
    "waivers a table": (
        HEAD + URL + "waivers = {}\n" + AGENT + KEY,
        "4: waivers: must be an array, not a table",
    ),
    "NUL": (
        HEAD + START + 'cwd = "a\\u0000b"\n' + AGENT + KEY,
        "5: start.cwd: must not hold a NUL character",
    ),
}


@pytest.mark.parametrize(("text", "message"), ERRORS.values(), ids=ERRORS.keys())
def test_each_mistake_has_its_message_with_key_and_line(tmp_path: Path, text: str, message: str) -> None:
    assert _errors(write(tmp_path, text)) == [f"my.toml:{message}"]


@pytest.mark.parametrize(
    ("text", "start"),
    [
        (HEAD + "url =\n", "3: not TOML: Invalid value in column 6"),
        (HEAD + "url = [\n\n", "3: not TOML: "),
        (HEAD + START + "[start]\n", "5: not TOML: Cannot declare ('start',) twice in column 7"),
    ],
)
def test_a_mistake_of_syntax_is_told_with_its_line(tmp_path: Path, text: str, start: str) -> None:
    assert _errors(write(tmp_path, text))[0].startswith(f"my.toml:{start}")


def test_all_mistakes_are_told_at_once_in_line_order(tmp_path: Path) -> None:
    text = HEAD + "deadline = 0\nurl = 1\n" + AGENT + 'model = "m"\n' + KEY.replace("valid", "x") + "zzz = 1\n"
    assert [error.split(": ")[:2] for error in _errors(write(tmp_path, text))] == [
        ["my.toml:3", "deadline"],
        ["my.toml:4", "url"],
        ["my.toml:7", "agents[0].model"],
        ["my.toml:10", "keys[0].state"],
        ["my.toml:13", "keys[0].zzz"],
    ]


def test_lines_are_ordered_as_numbers(tmp_path: Path) -> None:
    text = HEAD + URL + "deadline = 0\n" + "\n" * 100 + "abort_grace = -1\n" + AGENT + KEY
    assert [error.split(":")[1] for error in _errors(write(tmp_path, text))] == ["4", "105"]


def test_every_error_has_a_hint(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        load(write(tmp_path, HEAD))
    assert caught.value.hint == "turnproof docs targets describes every key of a target file."


PLANTED = "sk-canary-0123456789"


@pytest.mark.parametrize(
    "text",
    [
        PLANTED,
        f'"{PLANTED}" = 1',
        f'"{PLANTED}" = "{PLANTED}"\n"{PLANTED}" = 1',
        f'kind = "{PLANTED}"',
        f'name = ["{PLANTED}"]',
        f'url = "http://{PLANTED}@h"',
        f'url = "{PLANTED}"',
        f'capabilities = ["{PLANTED}", "{PLANTED}"]',
        f'policies = {{ history = "{PLANTED}" }}',
        f'ready = {{ path = "{PLANTED}", log = "({PLANTED}" }}',
        f'start = {{ command = ["{{{PLANTED}}}"], env = {{ "{PLANTED}=" = "{PLANTED}" }} }}',
        f'agents = [{{ id = "{PLANTED}", model = "{PLANTED}" }}, {{ id = "{PLANTED}" }}]',
        f'keys = [{{ name = "{PLANTED}", state = "{PLANTED}", agents = ["{PLANTED}"], env = "{PLANTED}" }}]',
        f'keys = [{{ mint = {{ method = "{PLANTED}", pointer = "{PLANTED}", body.token = "{PLANTED}" }} }}]',
    ],
)
def test_a_secret_is_never_repeated(tmp_path: Path, text: str) -> None:
    assert PLANTED not in "".join(_errors(write(tmp_path, text)))


@pytest.mark.parametrize(
    "text",
    [
        'keys = [{ env = "hunter2-hunter2" }]',
        'keys = [{ mint.headers.Cookie = "hunter2-hunter2" }]',
        'keys = [{ mint.body.password = "{hunter2-hunter2}" }]',
        'start.env.PASSWORD = "hunter2-hunter2"',
        'start.env = { PASSWORD = ["hunter2-hunter2"] }',
        'url = "http://me:hunter2-hunter2@h"',
    ],
)
def test_a_secret_without_a_shape_is_not_repeated_from_where_secrets_stand(tmp_path: Path, text: str) -> None:
    assert "hunter2-hunter2" not in "".join(_errors(write(tmp_path, text)))


def test_a_file_that_is_not_utf_8_is_told_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "my.toml"
    path.write_bytes(b'kind = "agent-endpoint"\nname = "\xff"\n')
    assert _errors(path) == ["my.toml:2: is not UTF-8"]


def test_a_file_nested_too_deeply_is_a_usage_error(tmp_path: Path) -> None:
    assert _errors(write(tmp_path, "a = " + "[" * 100_000)) == ["my.toml: is nested too deeply"]


def test_a_missing_file_is_a_usage_error(tmp_path: Path) -> None:
    assert _errors(tmp_path / "my.toml") == ["my.toml: no such file"]


def test_a_folder_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        load(tmp_path)
    assert caught.value.message == f"{tmp_path}: is a folder"
