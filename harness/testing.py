"""The stand-ins as users' own tests have them, through the pytest fixtures of `harness.plugin`."""

from __future__ import annotations

from dataclasses import dataclass

from harness.chat import prompts_in
from harness.errors import UsageError
from harness.exchange import Exchange
from harness.fakes.model.script import Answer, Rule
from harness.launch import Ground, Launch
from harness.stack import Stack
from harness.target import Facts, Target


class ScriptedModel:
    """A model server that says what `answer` told it, and keeps what it was asked in this test."""

    def __init__(self, ground: Ground) -> None:
        self._journal, self._stack = ground.journal, stack_of(ground)
        self._rules: tuple[Rule, ...] = ()

    @property
    def url(self) -> str:
        """The base URL, with `/v1`."""
        return self._stack.model_url

    @property
    def models(self) -> tuple[str, ...]:
        """The ids of the models that it serves."""
        return tuple(sorted(self._stack.model.models))

    def answer(self, *steps: str | Answer, when: str | None = None) -> None:
        """Answer prompts that hold `when` (those that no other rule knows, when None) with `steps`, in their order.

        The last step is given again and again. Without any rule the answer is `ok`.
        Raises ValueError without a step, and TypeError for one that is neither a text nor an `Answer`.
        """
        if not steps:
            raise ValueError("answer() needs a step at least: a text, or an Answer")
        for step in steps:
            if not isinstance(step, str | Answer):
                raise TypeError(f"a step is a text or an Answer, not {step!r}")
        answers = tuple(step if isinstance(step, Answer) else Answer(text=step) for step in steps)
        self._rules += (Rule(when, answers),)
        self._stack.model.script.replace(self._rules)

    @property
    def calls(self) -> tuple[Exchange, ...]:
        """The calls of this test, in order of arrival."""
        return self._journal.seen("model")

    def clear(self) -> None:
        """Forget rules and calls, and end turns that are under way."""
        self._rules = ()
        self._stack.settle()
        self._journal.close_window()


@dataclass(frozen=True)
class ScriptedOpencode:
    """An opencode server in front of the scripted model, at `url`, with HTTP Basic."""

    ground: Ground
    url: str
    username: str
    password: str

    @property
    def calls(self) -> tuple[Exchange, ...]:
        """The requests of this test, in order of arrival."""
        return self.ground.journal.seen("opencode")

    @property
    def prompts(self) -> list[Exchange]:
        """Those of the requests that prompted a session."""
        return prompts_in(self.calls)


@dataclass(frozen=True)
class RunningEndpoint:
    """The target, running with the stand-ins behind it: its base URL without `/v1`, its keys by their names."""

    url: str
    keys: dict[str, str]
    facts: Facts


def expect_usable(target: Target) -> None:
    """Raises UsageError unless the fixtures can put their servers behind the target."""
    if target.kind != "agent-endpoint" or target.start is None:
        message = f"--turnproof-target {target.source}: not a file of an agent endpoint that is started from it"
        hint = "Name a target file with [start] and its agents: turnproof init agent-endpoint writes one to begin with."
        raise UsageError(message, hint)


def stack_of(ground: Ground) -> Stack:
    """What is behind the target; there is an opencode in users' tests."""
    assert isinstance(ground.behind, Stack)
    return ground.behind


def scripted_opencode(ground: Ground) -> ScriptedOpencode:
    """The opencode server of a ground."""
    stack = stack_of(ground)
    return ScriptedOpencode(ground, stack.opencode_url, stack.username, stack.password)


def running_endpoint(launch: Launch) -> RunningEndpoint:
    """The launched target."""
    return RunningEndpoint(launch.live.url, dict(launch.live.keys), launch.target.facts)
