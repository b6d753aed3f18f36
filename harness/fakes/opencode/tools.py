"""The tools of the stand-in: enough of them to be called, refused and waited for; nothing on the machine is changed."""

from __future__ import annotations

import asyncio
import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.fakes.opencode.attachments import numbered
from harness.fakes.opencode.child import ChildFailed, said_by
from harness.fakes.opencode.ids import now
from harness.fakes.opencode.prompts import offered, rules_of
from harness.fakes.opencode.rules import decided, permission_of, relevant
from harness.fakes.opencode.step import Step

if TYPE_CHECKING:
    from harness.fakes.opencode.core import Core

_NEEDED = {"read": "filePath", "bash": "command", "question": "questions", "task": "prompt"}
_WANTED = {"glob": "pattern", "grep": "pattern", "webfetch": "url", "edit": "filePath", "write": "filePath"}
_REJECTED = "The user rejected permission to use this specific tool call"
_DENIED = "The user has specified a rule which prevents you from using this specific tool call."
_NO_TOOLS = "Model tried to call unavailable tool 'invalid'. Available tools: ."
_INVALID = "The arguments provided to the tool are invalid: "


class ToolFailed(Exception):
    """A call that comes to an error; `ends_turn` when the user said no and nothing more."""

    def __init__(self, error: str, ends_turn: bool = False, metadata: dict[str, Any] | None = None) -> None:
        super().__init__(error)
        self.ends_turn = ends_turn
        self.state: dict[str, Any] = {"error": error, **({} if metadata is None else {"metadata": metadata})}


async def run_tool(core: Core, step: Step, part_id: str, arguments: str) -> bool:
    """Run one call of a step and tell how it goes; whether the turn may go on."""
    return await _Run(core, step, part_id).run(arguments)


class _Run:
    def __init__(self, core: Core, step: Step, part_id: str) -> None:
        self._core, self._step, self._part_id = core, step, part_id
        self._part = step.message.parts[part_id]
        self._name = str(self._part["tool"])
        self._user = step.session.messages[str(step.message.info["parentID"])]
        self._began = now()
        self._input: dict[str, Any] = {}

    async def run(self, arguments: str) -> bool:
        try:
            self._input = json.loads(arguments or "{}")
        except ValueError:
            shown = f"Invalid input for tool {self._name}: JSON parsing failed: Text: {arguments}."
            return self._invalid(f"{shown}\nError message: JSON Parse error: Expected '}}'")
        tools = offered(self._core.settings, self._step.session, self._user)
        if not tools:
            self._set("running", time={"start": self._began})
            self._set("error", error=_NO_TOOLS, time={"start": self._began, "end": now()})
            return True
        if self._name not in tools:
            known = ", ".join(sorted((*tools, "invalid")))
            return self._invalid(f"Model tried to call unavailable tool '{self._name}'. Available tools: {known}.")
        try:
            await self._perform()
        except ToolFailed as failed:
            self._set("error", **failed.state, time={"start": self._began, "end": now()})
            return not failed.ends_turn
        return True

    def _invalid(self, error: str) -> bool:
        self._input = {"tool": self._name, "error": error}
        self._set("running", tool="invalid", time={"start": self._began})
        self._done(_INVALID + error, "Invalid Tool", {"truncated": False})
        return True

    async def _perform(self) -> None:
        needed = _NEEDED.get(self._name)
        if needed is not None and needed not in self._input:
            self._set("running", time={"start": self._began})
            raise ToolFailed(
                f'The {self._name} tool was called with invalid arguments: SchemaError(Missing key\n  at ["{needed}"])'
                ".\nPlease rewrite the input so it satisfies the expected schema."
            )
        if self._name == "read":
            await self._read()
        elif self._name == "bash":
            await self._bash()
        elif self._name == "question":
            await self._question()
        elif self._name == "task":
            await self._task()
        else:
            self._set("running", time={"start": self._began})
            wanted = str(self._input.get(_WANTED.get(self._name, ""), "*"))
            await self._permitted(permission_of(self._name), wanted, {"metadata": {}, "always": ["*"]})
            self._done(f"{self._name} does nothing in the stand-in", self._name, {"truncated": False})

    async def _read(self) -> None:
        self._set("running", time={"start": self._began})
        path = Path(self._step.session.directory, str(self._input["filePath"]))
        if not path.is_relative_to(self._step.session.directory):
            folder = str(path.parent)
            listed = {"metadata": {"filepath": str(path), "parentDir": folder}, "always": [f"{folder}/*"]}
            await self._permitted("external_directory", f"{folder}/*", listed)
        await self._permitted("read", str(path).removeprefix("/"), {"metadata": {}, "always": ["*"]})
        await asyncio.sleep(0)
        self._show(path)

    def _show(self, path: Path) -> None:
        told = numbered(path)
        if told is None:
            raise ToolFailed(f"File not found: {path}")
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        display = {"type": "file", "path": str(path), "text": "\n".join(lines), "truncated": False}
        display |= {"lineStart": 1, "lineEnd": len(lines), "totalLines": len(lines)}
        metadata = {"preview": "\n".join(lines[:20]), "truncated": False, "loaded": [], "display": display}
        self._done(told, str(path).removeprefix("/"), metadata)

    async def _bash(self) -> None:
        command = str(self._input["command"])
        words = shlex.split(command)
        listed = {"metadata": {"command": command}, "always": [f"{words[0]} *" if words else "*"]}
        await self._permitted("bash", command, listed, asked_first=True)
        said = " ".join(words[1:]) + "\n" if words[:1] == ["echo"] else "(the stand-in runs nothing but echo)\n"
        for output in ("", said):
            self._set("running", metadata={"output": output}, time={"start": self._began})
        self._done(said, command, {"output": said, "exit": 0, "truncated": False})

    async def _question(self) -> None:
        session = self._step.session
        questions = self._input["questions"]
        asked = self._core.questions.ask(
            "question",
            session.directory,
            {"sessionID": session.id, "questions": questions, "tool": self._tool_reference()},
        )
        self._core.bus.emit(session.directory, "question.asked", asked.listed)
        self._set("running", time={"start": self._began})
        reply = await asked.answer
        if reply["reply"] == "reject":
            raise ToolFailed("The user dismissed this question", ends_turn=True)
        answers = reply["answers"]
        chosen = [", ".join(answer) or "Unanswered" for answer in (*answers, *([[]] * len(questions)))]
        pairs = zip(questions, chosen, strict=False)
        said = ", ".join(f'"{question["question"]}"="{answer}"' for question, answer in pairs)
        told = f"User has answered your questions: {said}. You can now continue with the user's answers in mind."
        title = f"Asked {len(questions)} question{'s' if len(questions) != 1 else ''}"
        self._done(told, title, {"answers": answers, "truncated": False})

    async def _task(self) -> None:
        agent, description = str(self._input.get("subagent_type", "general")), str(self._input.get("description", ""))
        parent = self._step.session
        known = self._core.settings.agents.get(agent)
        if known is None:
            self._set("running", time={"start": self._began})
            raise ToolFailed(f"Unknown agent type: {agent} is not a valid agent type")
        listed = {"metadata": {"description": description, "subagent_type": agent}, "always": ["*"]}
        await self._permitted("task", agent, listed)
        spoken_of = {rule["permission"] for rule in known.rules}
        deny = [
            {"permission": name, "pattern": "*", "action": "deny"}
            for name in ("todowrite", "task")
            if name not in spoken_of
        ]
        wanted = {
            "title": f"{description} (@{agent} subagent)",
            "parentID": parent.id,
            "permission": deny,
            "agent": agent,
        }
        child = self._core.create(parent.directory, wanted)
        model = self._step.message.info
        used = known.model or {"modelID": model["modelID"], "providerID": model["providerID"]}
        metadata = {"parentSessionId": parent.id, "sessionId": child.id, "model": used}
        for _ in range(2):
            self._set("running", title=description, metadata=metadata, time={"start": self._began})
        try:
            text = await said_by(self._core, child, agent, used, str(self._input["prompt"]))
        except ChildFailed as failed:
            raise ToolFailed(str(failed), metadata=metadata) from failed
        told = f'<task id="{child.id}" state="completed">\n<task_result>\n{text}\n</task_result>\n</task>'
        self._done(told, description, {**metadata, "truncated": False})

    async def _permitted(
        self, permission: str, pattern: str, listed: dict[str, Any], asked_first: bool = False
    ) -> None:
        session = self._step.session
        rules = rules_of(self._core.settings, session, self._user)
        always = self._core.questions.allowed_always(session.directory)
        action = decided([*rules, *always], permission, pattern)
        if action == "deny":
            if asked_first:
                self._set("running", time={"start": self._began})
            raise ToolFailed(f"{_DENIED} Here are some of the relevant rules {relevant(rules, permission)}")
        if action == "ask":
            whole = {"sessionID": session.id, "permission": permission, "patterns": [pattern], **listed}
            asked = self._core.questions.ask("permission", session.directory, {**whole, "tool": self._tool_reference()})
            self._core.bus.emit(session.directory, "permission.asked", asked.listed)
            if asked_first:
                self._set("running", time={"start": self._began})
            reply = await asked.answer
            if reply["reply"] == "reject":
                why = reply.get("message")
                raise ToolFailed(f"{_REJECTED} with the following feedback: {why}" if why else f"{_REJECTED}.", not why)
        elif asked_first:
            self._set("running", time={"start": self._began})

    def _tool_reference(self) -> dict[str, str]:
        return {"messageID": self._step.message.id, "callID": str(self._part["callID"])}

    def _done(self, output: str, title: str, metadata: dict[str, Any]) -> None:
        time = {"start": self._began, "end": now()}
        self._set("completed", output=output, metadata=metadata, title=title, time=time)

    def _set(self, status: str, tool: str | None = None, **state: Any) -> None:
        if self._part["state"]["status"] == status == "running" and state.keys() == {"time"}:
            return  # the step has told it
        self._step.set_state(self._part_id, {"status": status, "input": self._input, **state}, tool)
