"""The agent: from a prompt to a response, by one run of the Kilo CLI."""

from __future__ import annotations

import asyncio
import os
import secrets
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from harness.reference.kilo.config import Config
from harness.reference.kilo.outcome import Failure, Ran

if TYPE_CHECKING:
    from harness.reference.kilo.parts import Parts

Response = dict[str, Any]


class Agent:
    """Runs the CLI for each prompt, `concurrency` of them at a time, whoever asks."""

    def __init__(self, config: Config, parts: Parts) -> None:
        self._config, self._parts = config, parts
        self._runner = parts.make_runner(parts.read_event)
        self._pool = parts.make_pool(config.concurrency)

    async def respond(self, body: object, rollout: str | None) -> Response:
        """The response to a Responses API request; raises Refusal for one that cannot be run."""
        prompt = self._parts.render(self._config.system_prompt, self._parts.read_request(body))
        self._parts.check_prompt(prompt)
        return await asyncio.get_running_loop().run_in_executor(self._pool, self._run, prompt, rollout)

    def close(self) -> None:
        """End every run."""
        self._runner.close()
        self._pool.shutdown(cancel_futures=True)

    def _run(self, prompt: str, rollout: str | None) -> Response:
        config, parts = self._config, self._parts
        deadline = time.monotonic() + config.timeout
        url = parts.resolve_url(config, rollout)
        settings = parts.build_settings(config, url)
        try:
            with parts.make_folder(config.repo_dir) as folder:
                if settings is not None:
                    parts.write_settings(settings, folder.project)
                command = parts.build_command(config, folder.project, prompt)
                env = parts.build_environment(config, url, folder.home, os.environ)
                ran = self._runner.run(command, env, folder, deadline)
        except OSError as error:
            ran = Ran(unstarted=f"its folder cannot be made ({error})")
        overflow = parts.overflow(config, settings, ran.events)
        failure = parts.judge(ran, overflow, config.timeout)
        return response(config, ran, failure, parts.doubt(config, settings, prompt), parts)


def pool(concurrency: int) -> ThreadPoolExecutor:
    """The threads that wait for runs: as many as runs may go on at the same time."""
    return ThreadPoolExecutor(concurrency, "kilo-run")


def response(config: Config, ran: Ran, failure: Failure | None, doubt: str | None, parts: Parts) -> Response:
    """A run in the shape of the Responses API; what is wrong with it is in `error`, what may be in `metadata`."""
    events = parts.distinct(ran.events)
    return {
        "id": f"resp_{secrets.token_hex(12)}",
        "object": "response",
        "created_at": int(time.time()),
        "status": "completed" if failure is None else "failed",
        "error": None if failure is None else {"code": failure.code, "message": failure.message},
        "incomplete_details": None,
        "instructions": None,
        "metadata": {} if doubt is None else {"output_budget": doubt},
        "model": config.model,
        "output": parts.output_items(events),
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "temperature": None,
        "top_p": None,
        "usage": parts.usage(events),
    }
