"""What stands behind a target: a far end, opencode, a tap; one set for a worker's whole run."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx

from harness import far_end, opencode
from harness.behind import opened
from harness.engine import Engine
from harness.errors import TargetNotReady
from harness.exchange import Exchange, Hop
from harness.fakes.model.script import Rule
from harness.fakes.model.server import ModelServer
from harness.far_end import OURS, FarEnd, RunningFarEnd
from harness.journal import Journal
from harness.redaction import Redactor
from harness.tap import Tap
from harness.tap_script import TapRule

_CALL_SECONDS = 10.0
_QUIET_SECONDS = 3.0
_WARM_UP_SECONDS = 60.0


@dataclass(frozen=True)
class Stack:
    """The running parts, from the far end to the target's: `server_url` is opencode's own, known to the tap alone.

    `opencode_tap` is None where opencode is the target itself. It is one of what `harness.behind.Behind` describes.
    """

    engine: Engine
    journal: Journal
    far: RunningFarEnd
    server_url: str
    opencode_tap: Tap | None
    password: str
    username: str = opencode.USERNAME

    @property
    def opencode_url(self) -> str:
        """The base URL under which the target finds opencode."""
        return self.opencode_tap.url if self.opencode_tap is not None else self.server_url

    @property
    def model(self) -> ModelServer:
        """The model server of ours, which is there unless a provider is asked."""
        assert self.far.model is not None
        return self.far.model

    @property
    def model_url(self) -> str:
        """The base URL, with `/v1`, under which an opencode of the target's own finds the model server."""
        return self.far.url

    def placeholders(self) -> Mapping[str, str]:
        """Part of `Behind`."""
        return {
            "opencode_url": self.opencode_url,
            "opencode_password": self.password,
            "model_url": self.model_url,
        }

    def conceal(self, redactor: Redactor) -> None:
        """Part of `Behind`."""
        redactor.add("opencode", self.password, self.username)
        for name, secret in self.far.secrets.items():
            redactor.add(name, secret)

    def canaries(self) -> Mapping[str, str]:
        """Part of `Behind`."""
        host, port = self.opencode_url.rsplit("/", 1)[1].split(":")
        return {
            "opencode's password": self.password,
            "opencode's address": f"{host}:{port}",
            "opencode's address in an exception": f"('{host}', {port})",
            **self.far.addresses,
        }

    def observes(self, hop: Hop) -> bool:
        """Part of `Behind`."""
        return hop == "client" or hop in self.far.hops or (hop == "opencode" and self.opencode_tap is not None)

    def use_model_rules(self, rules: tuple[Rule, ...]) -> None:
        """Part of `Behind`."""
        self.model.script.replace(rules)

    def open_gate(self, name: str) -> None:
        """Part of `Behind`."""
        self.engine.call(opened(self.model, name), _CALL_SECONDS)

    def use_tap_rules(self, rules: tuple[TapRule, ...]) -> None:
        """Part of `Behind`."""
        assert self.opencode_tap is not None
        self.engine.call(self.opencode_tap.obey(rules), _CALL_SECONDS)

    def catch_up(self) -> None:
        """Part of `Behind`: its taps and servers record as they go."""

    def settle(self) -> None:
        """Bring the parts to rest between two checks: script cleared, turns aborted, model calls over."""
        if self.opencode_tap is not None:
            self.use_tap_rules(())
        if self.far.model is not None:
            self.far.model.script.replace(())
        if not self._at_rest(0.0):
            self._abort_turns()
            self._at_rest(_QUIET_SECONDS)

    def _at_rest(self, within: float) -> bool:
        last: Hop = "model" if self.far.model is not None else "provider"
        return self.journal.wait(last, lambda seen: all(call.end != "open" for call in seen), within)

    def _abort_turns(self) -> None:
        """End the turns of every session that was made in this window, behind the tap's back."""
        auth = (self.username, self.password)
        with httpx.Client(base_url=self.server_url, auth=auth, trust_env=False, timeout=5.0) as http:
            for session in sessions_of(self.journal.seen("opencode" if self.opencode_tap is not None else "client")):
                with contextlib.suppress(httpx.HTTPError):
                    http.post(f"/session/{session}/abort")


def sessions_of(exchanges: Iterable[Exchange]) -> list[str]:
    """The ids of the sessions that were created in these exchanges."""
    created = [e.json() for e in exchanges if e.request.method == "POST" and e.request.path == "/session"]
    return [str(session["id"]) for session in created if isinstance(session, dict) and "id" in session]


@contextlib.contextmanager
def running(
    engine: Engine,
    journal: Journal,
    part: opencode.Part,
    models: Sequence[tuple[str, str]],
    work: Path,
    tapped: bool = True,
    wanted: FarEnd = OURS,
) -> Iterator[Stack]:
    """A stack over the opencode that `part` names, which serves every (provider, model) of `models`, under `work`.

    With `tapped` a tap stands before opencode. `wanted` is what it calls for its model.

    Raises TargetNotReady when opencode does not come up.
    """
    with contextlib.ExitStack() as ends:
        names = tuple(dict.fromkeys(name for _, name in models))
        far = ends.enter_context(far_end.running(engine, journal, wanted, names, work))
        password = secrets.token_urlsafe(16)
        settings = opencode.config(far.url, models, far.key)
        server_url = ends.enter_context(opencode.serving(part, engine, work, settings, password))
        if models:
            _warm_up(server_url, password, models[0])
            journal.close_window()
        opencode_tap = Tap("opencode", server_url, journal) if tapped else None
        if opencode_tap is not None:
            engine.call(opencode_tap.start(), _CALL_SECONDS)
            ends.callback(lambda: engine.call(opencode_tap.stop(), _CALL_SECONDS))
        yield Stack(engine, journal, far, server_url, opencode_tap, password)


def _warm_up(server_url: str, password: str, model: tuple[str, str]) -> None:
    """Drive one turn, since the first one of a fresh server takes seconds that are not the target's."""
    prompt = {"model": {"providerID": model[0], "modelID": model[1]}, "parts": [{"type": "text", "text": "Hello"}]}
    try:
        auth = (opencode.USERNAME, password)
        with httpx.Client(base_url=server_url, auth=auth, trust_env=False, timeout=_WARM_UP_SECONDS) as http:
            session = http.post("/session", json={"title": "warm-up"}).json()["id"]
            http.post(f"/session/{session}/message", json=prompt).raise_for_status()
    except (httpx.HTTPError, ValueError, KeyError) as error:
        message = f"opencode came up but drove no turn: {error!r}"
        raise TargetNotReady("the parts behind it come up", message, "try again; if it stays so, report it") from error
