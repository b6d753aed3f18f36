"""One start of the stand-in: it reads arguments and configuration, plays the turn, and exits as the version does."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Mapping
from typing import Any, NoReturn

from harness.fakes.kilo import behaviour, configuration
from harness.fakes.kilo.arguments import Asked, BadArguments, parse
from harness.fakes.kilo.behaviour import Behaviour, Faults
from harness.fakes.kilo.calls import Endpoint, list_models, proxy_for
from harness.fakes.kilo.diary import Diary, stdin_state
from harness.fakes.kilo.events import Printer
from harness.fakes.kilo.network import ask_around, telemetry_is_on
from harness.fakes.kilo.rules import Rules
from harness.fakes.kilo.turn import Model, Turn

_UNEXPECTED = "Unexpected server error. Check server logs for details."
_NO_MESSAGE = "You must provide a message or a command"


def main() -> NoReturn:
    """Run with the shim's folder as the first argument, and the CLI's own after it."""
    folder, *arguments = sys.argv[1:]
    behaves = behaviour.read(folder)
    try:
        asked: Asked | None = parse(arguments, behaves.rules.options)
    except BadArguments:
        asked = None
    directory = os.path.abspath((asked.value("--dir") if asked else "") or ".")
    diary = Diary(folder, arguments, configuration.files(directory, os.environ, behaves.faults.reads_user))
    status = _run(behaves, asked, directory)
    faults = behaves.faults
    if faults.detached:
        _leave_behind(faults.detached)
    if faults.hang == "end" or status is None:
        _hang()
    status = status if faults.exit is None else faults.exit
    diary.end(status)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def _run(behaves: Behaviour, asked: Asked | None, directory: str) -> int | None:
    """Do what was asked; the exit status, None for never."""
    rules, faults = behaves.rules, behaves.faults
    if faults.ignores_term:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if faults.hang == "start":
        _hang()
    time.sleep(faults.start_seconds)
    if asked is not None and "--version" in asked.options:
        sys.stdout.write(f"{rules.version}\n")
        return 0
    if asked is None or asked.command != "run" or "--help" in asked.options:
        sys.stderr.write(_help(rules))
        return 0 if asked is not None and "--help" in asked.options else 1
    printer = Printer(behaves, asked.value("--format") == "json")
    prompt = _prompt(asked, behaves)
    if not prompt.strip() and not faults.takes_empty:
        printer.complain(_NO_MESSAGE)
        return 1
    try:
        paths = configuration.files(directory, os.environ, faults.reads_user)
        settings = configuration.read(paths, os.environ, rules)
    except configuration.BadConfiguration as error:
        printer.complain(str(error))
        return 1
    ask_around(rules, settings, os.environ)
    if faults.writes_user or faults.shares:
        prompt = _touch_user(faults, prompt)
    model = _model(behaves, settings, asked.value("--model"), os.environ)
    if isinstance(model, str):
        return _not_found(rules, printer, model)
    if faults.lists_models:
        list_models(model.endpoint)
    limit = os.environ.get("KILO_SESSION_RETRY_LIMIT", "")
    retries = int(limit) if limit.isdigit() else None
    turn = Turn(behaves, printer, model, directory, asked.options, retries)
    status = turn.run(prompt)
    printer.close()
    return None if rules.lingers and telemetry_is_on(os.environ) else status


def _prompt(asked: Asked, behaves: Behaviour) -> str:
    """The words of the command line, and what is on standard input.

    A version that quotes words waits for the end of standard input, and puts a line break before it in any case.
    """
    quotes = behaves.rules.quotes
    words = (_quoted(word) if quotes and any(map(str.isspace, word)) else word for word in asked.all_words)
    prompt = " ".join(words)
    if behaves.faults.trims:
        prompt = prompt.strip()
    state = stdin_state()
    reads = state not in ("terminal", "closed") if quotes else state in ("file", "data", "ended")
    given = sys.stdin.buffer.read().decode("utf-8", "replace") if reads else ""
    return f"{prompt}\n{given}" if given or (reads and quotes) else prompt


def _quoted(word: str) -> str:
    return '"' + word.replace('"', '\\"') + '"'


def _touch_user(faults: Faults, prompt: str) -> str:
    """Leave something under HOME; the prompt with what was left there before, when it is shared."""
    folder = configuration.home(os.environ)
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "last")
    before = ""
    if faults.shares and os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            before = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write(prompt)
    return f"{before}\n{prompt}" if before else prompt


def _model(behaves: Behaviour, settings: Mapping[str, Any], wanted: str, env: Mapping[str, str]) -> Model | str:
    """The model of that name, or the name as far as it was understood."""
    wanted = wanted or str(settings.get("model", ""))
    provider, _, name = wanted.partition("/")
    known = (settings.get("provider") or {}).get(provider) or {}
    entry = (known.get("models") or {}).get(name)
    options = known.get("options") or {}
    if entry is None and behaves.faults.falls_back:
        entry = {}
    if entry is None or not name or "baseURL" not in options:
        return f"{provider}/{name}"
    url = str(options["baseURL"])
    if behaves.faults.split_at_last:
        name = wanted.rpartition("/")[2]
    return Model(name, entry, Endpoint(url, str(options.get("apiKey", "")), proxy_for(url, env)))


def _not_found(rules: Rules, printer: Printer, name: str) -> int | None:
    if rules.announces:
        reference = f"err_{os.urandom(4).hex()}"
        printer.announce({"name": "UnknownError", "data": {"message": _UNEXPECTED, "ref": reference}})
    printer.error({"name": "UnknownError", "data": {"message": f"Model not found: {name}."}})
    printer.close()
    return rules.not_found


def _help(rules: Rules) -> str:
    options = "\n".join(f"      {name}" for name in sorted(rules.options))
    return f"kilo run [message..]\n\nrun kilo with a message\n\nOptions:\n{options}\n"


def _leave_behind(seconds: float) -> None:
    """A process in a session of its own, as of a tool that detached itself."""
    if os.fork() == 0:
        os.setsid()
        for descriptor in (0, 1, 2):
            os.close(descriptor)
        time.sleep(seconds)
        os._exit(0)


def _hang() -> NoReturn:
    while True:
        time.sleep(60.0)
