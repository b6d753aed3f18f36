"""The command line of a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.actors import JournalReader, Script
from harness.check import expect
from harness.fakes.model.script import Answer, messages_of
from harness.fixtures.kilo_agent import IN_HOUSE, LARGE, PLAIN, Turn, declared
from harness.kilo_agent_actors import Agents, Run
from harness.kilo_answers import expect_answered

PROMPTS = {
    "dash": "--help me with {}",
    "lines": "first\n\n\tsecond {}\n",
    "quotes": "say \"{}\" and 'no' `$HOME` \\ $(echo x)",
    "unicode": "größer 漢字 \U0001f9ea \u2028 e\u0301 {}",
}


@pytest.mark.requirement("KA-CMD-1")
def test_the_arguments_of_a_run(starter: Agents, agent_turn: Turn, only_run: Callable[[], Run]) -> None:
    """Without questions, without plugins, as JSON, in the folder of the run."""
    agent_turn(starter.start("agent", PLAIN), "plain")
    run = only_run()
    for flag in ("--auto", "--pure"):
        expect(flag in run.options, f"{flag} among the arguments", repr(run.options), f"run the CLI with {flag}")
    form = run.option("--format")
    expect(form == "json", "--format json", repr(form), "read the events that the CLI prints as JSON")
    expect(run.option("--dir") is not None, "--dir with the run's folder", repr(run.options), "name the folder")
    expect(run.settings is not None, "kilo.json in the folder of --dir", repr(run.files), "write it there")
    expect(run.stdin != "open", "standard input closed", run.stdin, "close it: some versions wait for its end")


@pytest.mark.requirement("KA-CMD-1")
@pytest.mark.parametrize(
    ("configuration", "name"), [(PLAIN, f"nemo/{LARGE}"), (declared(), IN_HOUSE)], ids=["model server", "own provider"]
)
def test_the_model_is_named_for_its_provider(
    starter: Agents, agent_turn: Turn, only_run: Callable[[], Run], configuration: Any, name: str
) -> None:
    """`nemo/` comes before the model's name where there is a model server, and only there."""
    agent_turn(starter.start("agent", configuration), "plain")
    came = only_run().option("-m", "--model")
    expect(
        came == name, f"-m {name}", repr(came), "put nemo/ before the model's name exactly when there is a model server"
    )


@pytest.mark.requirement("KA-CMD-1")
@pytest.mark.parametrize("kind", PROMPTS)
def test_the_prompt_comes_unchanged_behind_a_double_dash(
    starter: Agents, script: Script, nonce: Callable[[str], str], only_run: Callable[[], Run], kind: str
) -> None:
    """Whatever it begins with, and whatever characters it holds."""
    asked, said = nonce("asked"), nonce("said")
    script.answer("script", Answer(text=said), nonce=asked)
    prompt = PROMPTS[kind].format(asked)
    reply = starter.start("agent", PLAIN).respond("reply", prompt)
    expect_answered(reply, said, f"the prompt {prompt!r}")
    came = only_run().prompt
    expect(came == prompt, f"-- and then {prompt!r}", repr(came), "pass the prompt as one argument after --")


@pytest.mark.requirement("KA-CMD-1")
def test_the_prompt_reaches_the_model_unchanged(
    starter: Agents, script: Script, journal: JournalReader, nonce: Callable[[str], str]
) -> None:
    """With everything in it that a shell or a parser of arguments could take for its own."""
    asked, said = nonce("asked"), nonce("said")
    script.answer("script", Answer(text=said), nonce=asked)
    prompt = "\n".join(PROMPTS.values()).replace("{}", asked)
    reply = starter.start("agent", PLAIN).respond("reply", prompt)
    expect_answered(reply, said, f"the prompt {prompt!r}")
    read = "\n".join(text for call in journal.read("calls", "model") for _, text in messages_of(call.request.json()))
    expect(prompt in read, "the prompt at the model", read[-1000:], "pass the prompt as one argument after --")
