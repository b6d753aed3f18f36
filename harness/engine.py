"""The thread whose event loop carries the stand-ins, the tap and the client."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from types import TracebackType
from typing import Any, TypeVar

from harness.errors import HarnessError

T = TypeVar("T")


def _new_event_loop() -> asyncio.AbstractEventLoop:
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


class Engine:
    """An event loop in a thread of its own, started on entry and ended on exit with all of its tasks."""

    def __init__(self) -> None:
        self._loop = _new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="turnproof-engine", daemon=True)

    def __enter__(self) -> Engine:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.call(_cancel_others(), within=10)
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    def submit(self, coroutine: Coroutine[Any, Any, T]) -> Future[T]:
        """Begin a coroutine on the engine's loop; cancelling the future cancels it."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    def call(self, coroutine: Coroutine[Any, Any, T], within: float) -> T:
        """The coroutine's result, run on the engine's loop; cancelled, with a HarnessError, after `within` seconds."""
        future = self.submit(coroutine)
        try:
            return future.result(within)
        except TimeoutError as error:
            if future.done():
                raise
            raise HarnessError(f"an internal call did not end within {within:g} s") from error
        finally:
            future.cancel()


async def _cancel_others() -> None:
    tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.sleep(0)
