"""The starts that are recorded of each version of the Kilo CLI, and held against the record by the suite.

`{asked}` in what is given to the CLI, and `{answered}` in what its model says, stand for nonces.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from harness.fakes.model.script import SUMMARY, Answer, ToolCall, Usage
from harness.kilo_cli import OFF, PROVIDER, Start

Entry = Mapping[str, Any]
"""What `kilo.json` says of a model."""

LIMITS = (
    (None, None),
    *((output, context) for output in (None, 0, 8192, 32000, 100000) for context in (0, 32768, 131072)),
)
"""Output and context for which the budget of a request is recorded; None where `limit` does not say."""

WINDOW = {"limit": {"context": 32768, "output": 8192}}
"""A model with a small window."""

OVERFLOW = (
    "This model's maximum context length is 32768 tokens. However, you requested 40000 tokens "
    "(31808 in the messages, 8192 in the completion). Please reduce the length of the messages or completion."
)
"""What a model server says of a request that does not fit."""


@dataclass(frozen=True)
class Scenario:
    """A start with what its model says to it, step by step.

    `named`: the prompt holds a nonce by which the model's answers are chosen, so that several may go on at once.
    `may_hang`: there is a version that never ends it.
    """

    name: str
    about: str
    start: Start
    steps: tuple[Answer, ...] = (Answer(text="{answered}"),)
    summary: Answer = SUMMARY
    named: bool = True
    may_hang: bool = False


def configuration(models: Mapping[str, Entry], **more: Any) -> dict[str, Any]:
    """A `kilo.json` that declares our provider with these models."""
    options = {"baseURL": "{model_url}", "apiKey": "none"}
    provider = {"npm": "@ai-sdk/openai-compatible", "name": PROVIDER, "options": options, "models": dict(models)}
    return {"provider": {PROVIDER: provider}, **more}


def only(models: Mapping[str, Entry]) -> dict[str, Any]:
    """The same, with no other provider."""
    return configuration(models, enabled_providers=[PROVIDER])


def arguments(prompt: str | None, model: str = f"{PROVIDER}/m", *more: str) -> tuple[str, ...]:
    """The command line of a turn; `more` are further options."""
    begun = ("run", "--auto", "--format", "json", "-m", model, "--dir", "{project}", *more)
    return begun if prompt is None else (*begun, "--", prompt)


def turn(entry: Entry | None = None, *more: str, prompt: str = "{asked}", model: str = "m") -> Start:
    """A start for one prompt to a model with that entry."""
    return Start(arguments(prompt, f"{PROVIDER}/{model}", *more), only({model: entry or {}}))


def call(name: str, given: str, **more: Any) -> Answer:
    """The model asks for a tool."""
    return Answer(**{"text": "", "tool_calls": (ToolCall(name, given),), "finish": "tool_calls", **more})


_ECHO = '{"command":"echo hi","description":"says hi"}'
_DONE = Answer(text="{answered}")

HELP = Scenario("help", "the options of `kilo run`", Start(("run", "--help"), None))
PLAIN = Scenario("plain", "a turn of one step", turn())


# What models are called


def slashed(model: str) -> Scenario:
    """A turn with a model whose name may hold slashes."""
    return Scenario(f"slashed {model}", f"a turn with the model {model}", turn(model=model))


MISSING = {
    "unlisted": f"{PROVIDER}/unlisted",
    "without provider": "m",
    "unknown provider": "elsewhere/m",
}
"""Names under which no model is declared."""


def missing(case: str) -> Scenario:
    """A turn with a model that is not there."""
    start = Start(arguments("{asked}", MISSING[case]), only({"m": {}}))
    return Scenario(f"missing {case}", f"a model's name that is {case}: {MISSING[case]}", start)


# Budgets


def budget(output: int | None, context: int | None) -> Scenario:
    """A turn with a model of these limits."""
    limit = {name: value for name, value in (("context", context), ("output", output)) if value is not None}
    shown = ", ".join(f"{name} {limit.get(name, 'absent')}" for name in ("output", "context"))
    start = turn({"limit": limit} if limit else {})
    return Scenario(f"budget {shown}", f"max_tokens for limits with {shown}", start)


def over_window(policy: str) -> Scenario:
    """A turn whose request does not fit, at a server that refuses it (`error`) or answers nothing (`empty_length`)."""
    steps = {
        "error": Answer(status=400, message=OVERFLOW),
        "empty_length": Answer(text="", finish="length"),
    }
    about = f"a request over the window at a server that answers with {policy}"
    return Scenario(f"over window {policy}", about, turn(WINDOW), (steps[policy],), named=False, may_hang=True)


# Reasoning

FIELDS = ("reasoning_content", "reasoning")
"""The fields in which model servers tell their reasoning."""


def reasoning(field: str | None, *, thinking: bool) -> Scenario:
    """Three steps: reasoning in each field, then none; `field` is what `interleaved` declares."""
    entry = {} if field is None else {"interleaved": {"field": field}}
    steps = tuple(call("bash", _ECHO, text="I look", reasoning=f"thought in {at}", reasoning_field=at) for at in FIELDS)
    how = f"interleaved {field or 'absent'}, {'with' if thinking else 'without'} --thinking"
    start = turn(entry, *(("--thinking",) if thinking else ()))
    return Scenario(f"reasoning {how}", f"what becomes of reasoning: {how}", start, (*steps, _DONE))


# Events

TOOLS = Scenario(
    "tools",
    "a turn with tools that succeed, fail and are not there",
    replace(turn(None, "--thinking"), files={"project/note.txt": "hello\nworld\n"}),
    (
        call("bash", _ECHO, text="I look", reasoning="a thought"),
        call("read", '{"filePath":"note.txt"}'),
        call("read", '{"filePath":"none.txt"}'),
        call("write", '{"filePath":"new.txt","content":"abc\\n"}'),
        call("nonesuch", "{}"),
        call("bash", '{"command":'),
        Answer(text="{answered}", reasoning="another", usage=Usage(100, 50, 20)),
    ),
)
REFUSED = Scenario(
    "refused",
    "a turn that the model server refuses with a 400",
    turn(),
    (Answer(status=400, message="no such temperature {answered}"),),
    may_hang=True,
)

BROKEN: dict[str, tuple[Answer, ...]] = {
    "an error in it": (Answer(text="part", fault="error_chunk", message="no more of {answered}"),),
    "a chunk that is no JSON": (Answer(text="part", fault="bad_chunk"),),
    "no finish reason": (Answer(text="part", finish=None), _DONE),
}
"""Streams of a model server that are not whole."""


def broken(case: str) -> Scenario:
    """A turn whose answer is one of `BROKEN`."""
    return Scenario(f"broken {case}", f"a stream with {case}", turn(), BROKEN[case], may_hang=True)


REJECTED = Scenario(
    "rejected",
    "a tool that needs a permission which nobody can give",
    Start(tuple(word for word in arguments("{asked}") if word != "--auto"), only({"m": {}})),
    (call("read", '{"filePath":"/etc/hostname"}'), _DONE),
    may_hang=True,
)

PROMPTS = {
    "one word": "{asked}",
    "a dash": "-v --help {asked}",
    "empty": "",
    "line breaks": "{asked}\nsecond\n\n\tthird\r\nfourth ",
    "quotes": "{asked} \"double\" 'single' `back` \\ $HOME %s {{}}",
    "unicode": "{asked} é e\u0301 ß 漢字 💡 👩‍🚀 \u00a0\u2028\u2029\u0085\ufeff\u202eabc",
}
"""Prompts that are passed after `--`."""


def prompted(case: str) -> Scenario:
    """A turn with one of `PROMPTS`."""
    start = turn(prompt=PROMPTS[case])
    return Scenario(f"prompt {case}", f"a prompt with {case}", start)


# The network

NETWORK: dict[str, tuple[Mapping[str, str | None], bool]] = {
    "as it comes": ({}, False),
    "telemetry off": ({"KILO_TELEMETRY_LEVEL": "off"}, False),
    "catalogue off too": (OFF, False),
    "all switched off": (OFF, True),
}
"""Variables, and whether other providers are switched off."""


def network(case: str) -> Scenario:
    """A turn with one of the settings of `NETWORK`."""
    env, alone = NETWORK[case]
    settings = only({"m": {}}) if alone else configuration({"m": {}})
    start = Start(arguments("{asked}"), settings, env)
    return Scenario(f"network {case}", f"which other hosts are asked for: {case}", start, may_hang=True)


def scenarios() -> tuple[Scenario, ...]:
    """All that is recorded of a version."""
    return (
        HELP,
        PLAIN,
        *(missing(case) for case in MISSING),
        *(budget(output, context) for output, context in LIMITS),
        over_window("error"),
        over_window("empty_length"),
        *(reasoning(field, thinking=thinking) for field in (None, *FIELDS) for thinking in (True, False)),
        TOOLS,
        REFUSED,
        *(broken(case) for case in BROKEN),
        REJECTED,
        *(prompted(case) for case in PROMPTS),
        *(network(case) for case in NETWORK),
    )
