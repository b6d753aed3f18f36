"""The actor that is the official `openai` client: what it makes of the target's answers, recorded and replayed.

It has an HTTP stack of its own, so a tap in front of the target shows what it sends and gets, as hop `client`. A replay
shows what came of each call when the run was recorded; it needs neither the target nor the client.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from harness.actors import Running, live_part
from harness.check import NotMeasured
from harness.exchange import Exchange
from harness.telling import beginning
from harness.world import World

if TYPE_CHECKING:
    import openai

_CLOSING_SECONDS = 5.0


@dataclass(frozen=True)
class Outcome:
    """What came of a call: `value`, or the name of the error class that was `raised` with its HTTP `status`.

    `exchange` is the last one that the call made; None when it made none.
    """

    value: Any = None
    raised: str | None = None
    status: int | None = None
    message: str = ""
    exchange: Exchange | None = None


class OfficialClient:
    """Calls the target through the `openai` client without retries. Raises NotMeasured where it is not installed."""

    def __init__(self, world: World, running: Running | None, keys: Mapping[str, str], deadline: float) -> None:
        self._world, self._running, self._keys, self._deadline = world, running, keys, deadline

    def models(self, label: str, key: str | None) -> Outcome:
        """The ids of the listed models. With `key` None the client has a key that the target does not know."""
        return self._call(label, key, {}, lambda client: [model.id for model in client.models.list()])

    def complete(self, label: str, key: str | None, **fields: Any) -> Outcome:
        """The completion as a JSON object; `fields` are the arguments of `chat.completions.create`."""
        return self._call(
            label, key, fields, lambda client: client.chat.completions.create(**fields).model_dump(mode="json")
        )

    def stream(self, label: str, key: str | None, **fields: Any) -> Outcome:
        """The chunks of a streamed completion as JSON objects."""

        def read(client: openai.OpenAI) -> list[Any]:
            return [chunk.model_dump(mode="json") for chunk in client.chat.completions.create(**fields, stream=True)]

        return self._call(label, key, {**fields, "stream": True}, read)

    def _call(self, label: str, key: str | None, fields: Any, use: Callable[[openai.OpenAI], Any]) -> Outcome:
        asked = {"key": key, "fields": fields}
        seen = self._world.act("openai", label, asked, lambda: self._perform(key, use))
        if seen is None:
            raise NotMeasured("the openai client is not installed: pip install 'turnproof[clients]'")
        number = seen["exchange"]
        return Outcome(**{**seen, "exchange": None if number is None else self._world.exchange(number)})

    def _perform(self, key: str | None, use: Callable[[openai.OpenAI], Any]) -> dict[str, Any] | None:
        if find_spec("openai") is None:
            return None
        running = live_part(self._running)
        before = len(running.seen("client"))
        outcome = self._use(running.through_tap(), "unknown-key" if key is None else self._keys[key], use)
        running.wait("client", _all_closed, _CLOSING_SECONDS)
        made = running.seen("client")[before:]
        return {**outcome, "exchange": made[-1].number if made else None}

    def _use(self, url: str, key: str, use: Callable[[openai.OpenAI], Any]) -> dict[str, Any]:
        import openai

        http = openai.DefaultHttpxClient(trust_env=False, verify=_certificates())
        try:
            with openai.OpenAI(
                base_url=f"{url}/v1", api_key=key, max_retries=0, timeout=self._deadline, http_client=http
            ) as client:
                return {"value": use(client)}
        except Exception as error:  # noqa: BLE001 - on garbage the client raises whatever its parser does
            status = error.status_code if isinstance(error, openai.APIStatusError) else None
            return {"raised": type(error).__name__, "status": status, "message": beginning(str(error), 500)}


@cache
def _certificates() -> ssl.SSLContext:
    """What every client would otherwise read anew, which takes longer than a request."""
    return ssl.create_default_context()


def _all_closed(seen: tuple[Exchange, ...]) -> bool:
    return all(exchange.end != "open" for exchange in seen)
