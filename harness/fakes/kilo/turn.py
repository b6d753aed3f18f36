"""A turn: calls of the model and of the tools that it asks for, step by step, until it is done."""

from __future__ import annotations

import functools
import http.client
import json
import os
import time
from collections.abc import Collection
from typing import Any, NamedTuple, NoReturn

from harness.fakes.kilo import prompts
from harness.fakes.kilo.answer import Answer
from harness.fakes.kilo.behaviour import Behaviour
from harness.fakes.kilo.budget import max_tokens
from harness.fakes.kilo.calls import BadChunk, Endpoint, ErrorChunk, Refused, stream
from harness.fakes.kilo.events import Part, Printer, new_id, now
from harness.fakes.kilo.tools import REJECTION
from harness.fakes.kilo.tools import call as call_tool

Message = dict[str, Any]

_WAITS = (2.0, 4.0, 8.0, 16.0, 30.0)
_OVERFLOW = ("context length", "context_length_exceeded", "maximum context")
_ATTEMPTS = 3
_EXHAUSTED = f"Compaction exhausted: context still exceeds model limits after {_ATTEMPTS} attempts"
_REJECTED = "run ended with an auto-rejected permission; pass --auto for autonomous use"
_NO_OUTPUT = "run ended without an assistant message; the model returned no output"


class Model(NamedTuple):
    """The model of a turn: its name on the wire, its entry in the configuration, and where it is."""

    name: str
    entry: dict[str, Any]
    endpoint: Endpoint


class Ended(Exception):
    """The turn ended in an error that has been told: the exit status."""

    def __init__(self, status: int | None) -> None:
        super().__init__(status)
        self.status = status


class Overflow(Exception):
    """The model server says that the request does not fit its window."""


class Turn:
    """One turn, which `run` plays.

    `options` are those of the command line, `retries` bounds how often a call is tried again (None: without end).
    """

    def __init__(
        self,
        behaviour: Behaviour,
        printer: Printer,
        model: Model,
        directory: str,
        options: Collection[str],
        retries: int | None,
    ) -> None:
        self._rules, self._faults, self._printer, self._model = behaviour.rules, behaviour.faults, printer, model
        self._directory, self._retries = directory, retries
        self._thinking, self._auto = "--thinking" in options, "--auto" in options
        self._system: Message = {"role": "system", "content": prompts.system(self._rules)}
        self._messages: list[Message] = []
        self._said = False

    def run(self, prompt: str) -> int | None:
        """Play the turn; the exit status, None for a version that never ends after it."""
        user = prompts.user(self._rules, prompt, self._directory)
        self._messages = [user]
        try:
            if self._rules.title_call:
                self._collect([{"role": "system", "content": prompts.TITLE}, prompts.TITLE_REQUEST, user])
            self._steps()
        except Ended as ended:
            return ended.status
        if self._said:
            return 0
        if self._rules.empty != 0:
            self._printer.error(_NO_OUTPUT)
        return self._rules.empty

    def _steps(self) -> None:
        compacted = 0
        while True:
            try:
                goes_on = self._step()
            except Overflow as overflow:
                if not self._rules.compacts:
                    raise Ended(self._rules.failed) from overflow
                if compacted == _ATTEMPTS:
                    self._printer.error({"name": "ContextOverflowError", "data": {"message": _EXHAUSTED}})
                    raise Ended(self._rules.failed) from overflow
                compacted += 1
                self._compact()
            else:
                if not goes_on:
                    return

    def _step(self) -> bool:
        """One call of the model with what follows from it; whether another is due."""
        message = new_id("msg")
        answer = self._collect([self._system, *self._messages], message, prompts.tools(self._rules))
        self._said = self._said or bool(answer.text or answer.calls)
        called = [self._use(message, call) for call in answer.calls]
        self._finish(message, answer)
        if any(REJECTION in result["content"] for _, result in called):
            if self._rules.rejected:
                self._printer.error(_REJECTED)
            raise Ended(self._rules.rejected)
        if not called and (answer.finish is not None or not self._rules.asks_again):
            return False
        spoken: Message = {"role": "assistant", "content": answer.text or None}
        field = self._rules.sent_back.get(str((self._model.entry.get("interleaved") or {}).get("field", "")))
        if answer.reasoning and field:
            spoken[field] = answer.reasoning
        if called:
            spoken["tool_calls"] = [call for call, _ in called]
        self._messages += [spoken, *(result for _, result in called)]
        return True

    def _compact(self) -> None:
        """Have the conversation summed up, and go on from there."""
        message = new_id("msg")
        request = [{"role": "system", "content": prompts.SUMMARY}, prompts.summary_request(self._messages)]
        answer = self._collect(request, message)
        self._finish(message, answer)
        part = {"type": "text", "text": prompts.CONTINUE, "synthetic": True, "time": {"start": now(), "end": now()}}
        self._printer.part("text", new_id("msg"), {**part, "metadata": {"compaction_continue": True}})
        self._messages = [
            prompts.user(self._rules, "What did we do so far?", self._directory),
            {"role": "assistant", "content": answer.text},
            prompts.user(self._rules, prompts.CONTINUE, self._directory),
        ]

    def _collect(self, messages: list[Message], message: str = "", tools: list[dict[str, Any]] | None = None) -> Answer:
        """The answer to a call, tried again as long as that may help; its parts are told when `message` is given."""
        body: dict[str, Any] = {"model": self._model.name}
        default = self._faults.default_budget
        budget = max_tokens(self._rules, self._model.name, self._model.entry, messages, tools or [], default)
        body |= {} if budget is None else {"max_tokens": budget}
        body |= {"messages": messages}
        body |= {"tools": tools, "tool_choice": "auto"} if tools else {}
        body |= {"stream": True, "stream_options": {"include_usage": True}}
        tries = 0
        while True:
            answer = Answer(self._rules.reasoning_fields, functools.partial(self._tell, message))
            try:
                for chunk in stream(self._model.endpoint, body):
                    answer.take(chunk)
            except (Refused, BadChunk, ErrorChunk, OSError, http.client.HTTPException) as error:
                if not _may_help(error) or tries == self._retries:
                    self._tell_error(error, answer)
                time.sleep(_WAITS[min(tries, len(_WAITS) - 1)])
                tries += 1
            else:
                answer.close()
                return answer

    def _tell_error(self, error: Exception, answer: Answer) -> NoReturn:
        """Tell of an error that ends the turn, or this step of it."""
        if not isinstance(error, Refused):
            data: dict[str, Any] = {"message": self._worded(error)}
            self._printer.error({"name": "UnknownError", "data": data})
            if self._rules.keeps_partial:
                answer.close()
            raise Ended(self._rules.failed) from error
        data = {"message": error.message, "responseBody": error.body}
        if any(word in error.body for word in _OVERFLOW):
            self._printer.error({"name": "ContextOverflowError", "data": data})
            raise Overflow from error
        headers = {name.lower(): value for name, value in sorted(error.headers.items())}
        data = {"message": error.message, "statusCode": error.status, "isRetryable": _may_help(error)}
        data |= {"responseHeaders": headers, "responseBody": error.body}
        url = f"{self._model.endpoint.base_url.rstrip('/')}/chat/completions"
        self._printer.error({"name": "APIError", "data": {**data, "metadata": {"url": url}}})
        raise Ended(self._rules.failed) from error

    def _worded(self, error: Exception) -> str:
        if isinstance(error, ErrorChunk):
            return _json(error.error if self._rules.error_object else str(error))
        return f"{self._rules.parse_prefix}{error}" if isinstance(error, BadChunk) else str(error)

    def _tell(self, message: str, kind: str, part: Part) -> None:
        """Tell of a part of the answer that is whole."""
        if message and (kind != "reasoning" or self._thinking or not self._rules.needs_thinking):
            self._printer.part(kind, message, part)

    def _use(self, message: str, asked: dict[str, Any]) -> tuple[dict[str, Any], Message]:
        """Run a tool and tell of it: the call as it goes back to the model, and its result."""
        began = now()
        done = call_tool(self._rules, self._directory, asked["name"], asked["arguments"], self._auto)
        if REJECTION in done.told:
            folder = os.path.dirname(str(done.given["filePath"]))
            self._printer.warn(f"permission requested: external_directory ({folder}/*); auto-rejecting")
        part = {"type": "tool", "callID": asked["id"], "tool": done.name, "state": done.state}
        part["state"]["time"] = {"start": began, "end": now()}
        self._tell(message, "tool_use", part)
        function = {"name": done.name, "arguments": _json(done.given)}
        call = {"id": asked["id"], "type": "function", "function": function}
        return call, {"role": "tool", "content": done.told, "tool_call_id": asked["id"]}

    def _finish(self, message: str, answer: Answer) -> None:
        part: Part = {"type": "step-finish", "reason": answer.reason or self._rules.unfinished}
        if self._rules.measures:
            elapsed = now() - answer.began
            rate = answer.output / max(elapsed / 1000, 0.001)
            part |= {"metrics": {"generation": rate, "source": "computed"}}
            part |= {"time": {"start": answer.began, "end": now(), "elapsed": elapsed}}
        self._tell(message, "step_finish", {**part, "cost": 0, "tokens": answer.tokens(self._rules.output_without)})


def _may_help(error: Exception) -> bool:
    """Whether trying again may help."""
    if isinstance(error, Refused):
        return error.status in (408, 409, 429) or error.status >= 500
    return not isinstance(error, BadChunk | ErrorChunk)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
