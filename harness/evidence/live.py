"""`turnproof live`: a real round trip, and the evidence of it in a folder."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from harness import kilo_agent_target
from harness.errors import TurnproofError, UsageError
from harness.evidence.bundle import written
from harness.evidence.markdown import document
from harness.evidence.marked import marked
from harness.evidence.provenance import Provenance, provenance_of
from harness.evidence.signing import MARKDOWN_TYPE, STATEMENT_TYPE, envelope, private_key, sign
from harness.evidence.statement import OWN, SEAL, statement_of
from harness.far_end import FarEnd, Provider, expect_litellm
from harness.kilo_behind import STAND_IN as KILO_STAND_IN
from harness.kilo_behind import VERSION as KILO_VERSION
from harness.kinds import KINDS, kind_named
from harness.opencode import REAL, STAND_IN
from harness.parts import takes_opencode
from harness.results import RESULTS, results_of
from harness.run import Observer, Order, run
from harness.target import Target
from harness.verdict import Summary, summarise

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

BUNDLE, MARKDOWN, ENVELOPE = "evidence.json", "evidence.md", "evidence.dsse.json"

_KILO_SECONDS = 600.0


@dataclass(frozen=True)
class Trip:
    """A round trip to make: the target, what is put behind it, where the evidence goes, and how it is signed.

    `opencode` and `kilo` are what is behind an endpoint and behind an agent, None for the real one that turnproof
    stands for. `direct` leaves the proxy out. `commit` is what a person says that the target is made of.
    """

    target: Target
    out: Path
    opencode: str | None
    kilo: str | None
    direct: bool = False
    provider: Provider | None = None
    attach: str | None = None
    key: Ed25519PrivateKey | None = None
    commit: str | None = None


def trip_of(
    target: Target,
    out: Path,
    environment: Mapping[str, str],
    *,
    opencode: str | None,
    kilo: str | None,
    direct: bool,
    model_url: str | None,
    model_key_env: str | None,
    model: str | None,
    attach: str | None,
    sign: Path | None,
    commit: str | None,
) -> Trip:
    """The round trip that these options name; raises UsageError where they do not go together."""
    if model_url is None and (model_key_env or model):
        raise UsageError("--model-key-env and --model say more about --model-url, which is missing", "Add it.")
    if model is not None and direct:
        hint = "Leave --direct out, or name the provider's models in the target file."
        raise UsageError("--model is what the proxy asks for, and with --direct there is none", hint)
    provider = None if model_url is None else _provider(model_url, model_key_env, model, environment)
    key = private_key(sign) if sign is not None else None
    return Trip(target, out, opencode, kilo, direct, provider, attach, key, commit)


def _provider(url: str, variable: str | None, model: str | None, environment: Mapping[str, str]) -> Provider:
    address = urlsplit(url)
    if address.scheme not in ("http", "https") or not address.hostname or address.username or address.query:
        raise UsageError(f"{url} is no base URL of a provider", "Write it with its version: https://…/v1")
    if variable is None:
        raise UsageError("--model-url needs --model-key-env", "Name the environment variable that holds its key.")
    if not environment.get(variable):
        raise UsageError(f"the environment variable {variable} is not set", "Put the provider's key into it.")
    return Provider(url, environment[variable], model)


@dataclass(frozen=True)
class Files:
    """Evidence as text: the bundle, the Markdown, and the envelope of the bundle where it is signed."""

    bundle: str
    markdown: str
    envelope: str | None


def make(trip: Trip, observer: Observer) -> tuple[Summary, TurnproofError | None]:
    """Make the round trip, and write the evidence of it where it ended by itself; what it says, and the error that
    ended it early, if one did.

    Raises TurnproofError for what is wrong before there is a results file.
    """
    order = order_of(trip)
    provenance = provenance_of(trip.target, trip.commit)
    for name in (BUNDLE, MARKDOWN, ENVELOPE):
        with contextlib.suppress(OSError):  # evidence of an earlier run must not be taken for that of this one
            (trip.out / name).unlink()
    results, error = run(order, observer)
    if results.finished:
        lines = (trip.out / RESULTS).read_text(encoding="utf-8").removesuffix("\n").split("\n")
        write(evidence([json.loads(line) for line in lines], provenance, trip.key), trip.out)
    return summarise(results), error


def order_of(trip: Trip) -> Order:
    """The run that a round trip is; raises UsageError for a target that cannot have one."""
    kind, target = kind_named(trip.target.kind), trip.target
    if kind.live is None:
        kinds = " and ".join(kind.name for kind in KINDS if kind.live)
        raise UsageError(f"there is no round trip through a target of kind {kind.name}", f"There is for {kinds}.")
    if kind.name == kilo_agent_target.KIND:
        return Order(_over(target, trip), kind.live, out=trip.out)
    if target.url is not None and trip.attach is None:
        message = "nothing of turnproof's is behind a target given by URL, so no round trip can be shown"
        raise UsageError(message, "Hold it with turnproof up --stack FILE, and give --attach what that prints.")
    if trip.kilo is not None:
        raise UsageError("--kilo is for agents that wrap the Kilo CLI", "Leave it out.")
    far = FarEnd(proxied=not trip.direct and trip.attach is None, provider=trip.provider)
    if far.proxied:
        expect_litellm()  # before a binary is fetched
    if trip.attach is not None:
        held = trip.opencode or STAND_IN
        return Order(target, kind.live, out=trip.out, opencode=held, attach=trip.attach, far=far)
    opencode = trip.opencode or (REAL if takes_opencode(target) else STAND_IN)
    return Order(target, kind.live, out=trip.out, opencode=opencode, far=far)


def _over(target: Target, trip: Trip) -> Target:
    """An agent over the Kilo CLI that is wanted; a real one takes its time."""
    given = {"--model-url": trip.provider, "--attach": trip.attach, "--opencode": trip.opencode}
    for option in (option for option, value in given.items() if value is not None):
        raise UsageError(f"{option} is not for agents that wrap the Kilo CLI", "Leave it out.")
    if trip.kilo == KILO_STAND_IN:
        return target
    version = KILO_VERSION if trip.kilo in (None, REAL) else trip.kilo
    return replace(target, kilo_behind=version, deadline=max(target.deadline, _KILO_SECONDS))


def evidence(records: list[dict[str, Any]], provenance: Provenance, key: Ed25519PrivateKey | None = None) -> Files:
    """The evidence that these records of a results file are: the same for the same."""
    statement = statement_of(records, provenance)
    bundle, signature, sealed_in = written(statement), None, None
    text = document(summarise(results_of(records)), provenance, statement["predicate"][OWN][SEAL])
    if key is not None:
        signature = sign(MARKDOWN_TYPE, text.encode(), key)
        payload = bundle.encode()
        sealed_in = json.dumps(envelope(payload, [sign(STATEMENT_TYPE, payload, key)])) + "\n"
    return Files(bundle, marked(text, signature), sealed_in)


def write(files: Files, out: Path) -> None:
    """Write evidence into a folder; raises UsageError when that cannot be done."""
    texts = {BUNDLE: files.bundle, MARKDOWN: files.markdown, ENVELOPE: files.envelope}
    try:
        for name, text in texts.items():
            if text is not None:
                (out / name).write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise UsageError(f"{out}: cannot be written: {error.strerror}", "choose another folder with --out") from error
