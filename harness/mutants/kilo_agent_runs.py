"""Agents that run the CLI in a wrong way: in another rollout, for too long, too often, with a part of the prompt."""

from __future__ import annotations

import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from harness.mutants.mutant import Mutant, changing, remembering
from harness.reference.kilo.command import LONGEST, build_command, check_prompt
from harness.reference.kilo.config import Config
from harness.reference.kilo.events import EventParser, read_event
from harness.reference.kilo.outcome import Ran
from harness.reference.kilo.parts import Body, Parts
from harness.reference.kilo.prompt import Said, read_request, render
from harness.reference.kilo.resources import post
from harness.reference.kilo.routing import resolve_url, split_rollout
from harness.reference.kilo.run import Folder, Runner

_MANY = 64


class _Current:
    """One rollout for the whole agent: that of the latest request."""

    def __init__(self) -> None:
        self.rollout: str | None = None

    def split(self, path: str) -> tuple[str, str | None]:
        found = split_rollout(path)
        self.rollout = found[1]
        return found

    def resolve(self, config: Config, _rollout: str | None) -> str | None:
        time.sleep(0.1)  # until the requests that came at the same time have all been taken
        return resolve_url(config, self.rollout)


class _Sticky(_Current):
    """Once in a rollout, always in it."""

    def split(self, path: str) -> tuple[str, str | None]:
        found = split_rollout(path)
        self.rollout = found[1] or self.rollout
        return found[0], self.rollout


def _mixed() -> Mapping[str, Any]:
    current = _Current()
    return {"split_rollout": current.split, "resolve_url": current.resolve}


def _stuck() -> Mapping[str, Any]:
    return {"split_rollout": _Sticky().split}


def _outside(config: Config, _rollout: str | None) -> str | None:
    return resolve_url(config, None)


def _only_where_listed(config: Config, rollout: str | None) -> str | None:
    """The address of a server that lists its models; no other is used."""
    url = resolve_url(config, rollout)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"{url}/models", timeout=5):
            return url
    except (urllib.error.URLError, ValueError):
        return url if url is None or _wants_a_key(url, opener) else "http://127.0.0.1:9/v1"


def _wants_a_key(url: str, opener: urllib.request.OpenerDirector) -> bool:
    try:
        opener.open(f"{url}/models", timeout=5).close()
    except urllib.error.HTTPError as error:
        return error.code == 401
    except urllib.error.URLError:
        return False
    return True


class _FolderKept(Folder):
    """Leaves its folder."""

    def __exit__(self, *_: object) -> None:
        pass


class _CliAlone(Runner):
    """Ends the CLI when its time is over, and nothing that it has started."""

    def run(self, command: Sequence[str], env: Mapping[str, str], folder: Folder, deadline: float) -> Ran:
        try:
            with folder.output.open("wb") as output:
                process = subprocess.Popen(
                    command, env=dict(env), cwd=folder.project, stdin=subprocess.DEVNULL, stdout=output
                )
        except OSError as error:
            return Ran(unstarted=str(error))
        try:
            status = process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            status = None
        parser = EventParser(read_event)
        return Ran(tuple(parser.feed(folder.output.read_bytes()) + parser.close()), status)


class _GoesOn(Runner):
    """Answers when the time is over, and lets the run go on."""

    def run(self, command: Sequence[str], env: Mapping[str, str], folder: Folder, deadline: float) -> Ran:
        told: list[Ran] = []
        running = super().run

        def wait() -> None:
            told.append(running(command, env, folder, deadline + 60.0))

        waiting = threading.Thread(target=wait, daemon=True)
        waiting.start()
        waiting.join(max(0.0, deadline - time.monotonic()))
        return told[0] if told else Ran()


def _without_earlier(system_prompt: str | None, conversation: Sequence[Said]) -> str:
    systems = [piece for piece in conversation if piece.speaker == "System"]
    return render(system_prompt, [*systems, conversation[-1]])


def _without_instructions(body: object) -> tuple[Said, ...]:
    return read_request({**body, "instructions": None} if isinstance(body, dict) else body)


def _cut(config: Config, folder: Any, prompt: str) -> list[str]:
    return build_command(config, folder, prompt.encode("utf-8", "replace")[:LONGEST].decode("utf-8", "ignore"))


def _cleaned(config: Config, folder: Any, prompt: str) -> list[str]:
    return build_command(config, folder, prompt.replace("\0", "").encode("utf-8", "ignore").decode())


def _unless_long(prompt: str) -> None:
    check_prompt(prompt[:1000])


def _anything(_prompt: str) -> None:
    pass


def _crashing(prompt: str) -> None:
    prompt.encode()
    check_prompt(prompt)


def _unbounded(_concurrency: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_MANY)


def _one_more(concurrency: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(concurrency + 1)


async def _two_sessions(url: str, body: Body, respond: Callable[[], Awaitable[Body]]) -> Body:
    import httpx

    async with httpx.AsyncClient(base_url=url, trust_env=False) as http:
        await post(http, "/seed_session", body)
    response = await respond()
    async with httpx.AsyncClient(base_url=url, trust_env=False) as http:
        verified = await post(http, "/verify", {**body, "response": response})
    return {**verified, "response": response}


RUNS: tuple[Mutant[Parts], ...] = (
    changing("prefix_dropped", "calls the model outside the rollout", "KA-CAPTURE-1", resolve_url=_outside),
    remembering("rollouts_mixed", "knows only the latest rollout", "KA-CAPTURE-1", _mixed),
    remembering("rollout_sticks", "stays in a rollout", "KA-CAPTURE-1", _stuck),
    changing(
        "wants_a_list", "works only with servers that list their models", "KA-SWAP-1", resolve_url=_only_where_listed
    ),
    changing("folder_kept", "leaves the folder of a run", "KA-FAULT-1", make_folder=_FolderKept),
    changing("children_alive", "ends the CLI, and not what it started", "KA-FAULT-3", make_runner=_CliAlone),
    changing("goes_on", "lets a run go on after its time", "KA-FAULT-1", "KA-FAULT-3", make_runner=_GoesOn),
    changing("system_dropped", "drops the system prompt", "KA-PROMPT-1", render=lambda _, said: render(None, said)),
    changing("history_dropped", "passes on the last message", "KA-PROMPT-1", render=_without_earlier),
    changing("instructions_dropped", "drops instructions", "KA-PROMPT-1", read_request=_without_instructions),
    changing("long_prompt_cut", "cuts a long prompt", "KA-PROMPT-1", check_prompt=_unless_long, build_command=_cut),
    changing("prompt_cleaned", "drops characters", "KA-PROMPT-1", check_prompt=_anything, build_command=_cleaned),
    changing("surrogate_crashes", "crashes on a surrogate", "KA-PROMPT-1", check_prompt=_crashing),
    changing("unbounded", "runs as many as are asked for", "KA-CONC-1", make_pool=_unbounded),
    changing("one_more", "runs one more than declared", "KA-CONC-1", make_pool=_one_more),
    changing("two_sessions", "verifies in another session", "KA-COOKIE-1", roll_out=_two_sessions),
)
