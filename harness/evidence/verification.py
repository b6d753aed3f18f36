"""Is evidence what it should be? Each check refuses for a reason of its own."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from harness.errors import UsageError
from harness.evidence.bundle import Bundle, read_bundle
from harness.evidence.claims import Claims
from harness.evidence.markdown import document
from harness.evidence.marked import Marked, found_in
from harness.evidence.provenance import matches
from harness.evidence.refusal import Refused
from harness.evidence.signing import MARKDOWN_TYPE, STATEMENT_TYPE, Signature, expect_signed
from harness.pytest_run import collect
from harness.replay import replay
from harness.verdict import summarise

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

Form = Literal["Markdown", "bundle", "envelope"]

_AGE = re.compile(r"([0-9]{1,9})([smhd])")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_AHEAD = datetime.timedelta(minutes=5)
"""How far the clock of the machine that made it may be ahead."""


@dataclass(frozen=True)
class Demands:
    """What evidence must be beyond whole: so old at most, of a commit, signed by a key. `now` is the time."""

    now: datetime.datetime
    max_age: datetime.timedelta | None = None
    commit: str | None = None
    key: Ed25519PublicKey | None = None


@dataclass(frozen=True)
class Verified:
    """Evidence that was accepted.

    `signed_by` is the id of the key that was demanded. `replayed` is how many verdicts were made again and agreed, None
    for Markdown alone, from which they cannot be.
    """

    form: Form
    claims: Claims
    signed_by: str | None
    signatures: tuple[Signature, ...]
    replayed: int | None


def age(text: str) -> datetime.timedelta:
    """The age that `text` names, such as 90m, 24h or 7d; raises UsageError."""
    match = _AGE.fullmatch(text)
    if match is None:
        raise UsageError(f"{text!r} is no age", "Write a number and s, m, h or d: --max-age 24h")
    return datetime.timedelta(seconds=int(match[1]) * _SECONDS[match[2]])


def verify(text: str, demands: Demands, beside: str | None = None) -> tuple[Verified, ...]:
    """Every evidence in `text`, accepted; `beside` is the text of the bundle that Markdown was made with.

    Raises Refused for the first that is not what it should be.
    """
    if text.lstrip().startswith("{"):
        return (_verify_bundle(read_bundle(text), demands),)
    found = found_in(text)
    if beside is None:
        return tuple(_verify_marked(one, demands, None) for one in found)
    bundle = read_bundle(beside)
    if [one.text for one in found] != [document(summarise(bundle.results), bundle.provenance, bundle.claims.bundle)]:
        hint = f"Give the evidence.json beside it, to turnproof {bundle.provenance.harness}, which made both."
        raise Refused("edited", "the Markdown is not what this bundle gives", hint)
    _expect(bundle.claims, demands)
    return (_verify_marked(found[0], demands, _replayed(bundle)),)


def _verify_bundle(bundle: Bundle, demands: Demands) -> Verified:
    signed_by = None
    if demands.key is not None:
        signed_by = expect_signed(STATEMENT_TYPE, bundle.payload, bundle.signatures, demands.key)
    _expect(bundle.claims, demands)
    form: Form = "envelope" if bundle.signatures else "bundle"
    return Verified(form, bundle.claims, signed_by, bundle.signatures, _replayed(bundle))


def _verify_marked(marked: Marked, demands: Demands, replayed: int | None) -> Verified:
    signatures: Sequence[Signature] = (marked.signature,) if marked.signature else ()
    signed_by = None
    if demands.key is not None:
        signed_by = expect_signed(MARKDOWN_TYPE, marked.text.encode("utf-8", "surrogatepass"), signatures, demands.key)
    _expect(marked.claims, demands)
    return Verified("Markdown", marked.claims, signed_by, tuple(signatures), replayed)


def _expect(claims: Claims, demands: Demands) -> None:
    if not claims.finished or claims.ended is None:
        raise Refused("incomplete", "the run did not make every check that it planned", "Make the round trip again.")
    _expect_commit(claims, demands.commit)
    _expect_fresh(claims.ended, demands)


def _expect_commit(claims: Claims, wanted: str | None) -> None:
    if wanted is None:
        return
    if claims.commit is None:
        raise Refused("wrong commit", f"it does not say of which commit the target was, and {wanted} is wanted")
    if not matches(claims.commit.id, wanted):
        raise Refused("wrong commit", f"the target was of commit {claims.commit.id}, and {wanted} is wanted")
    if claims.commit.changed:
        message = f"the target's files had changes that are not in commit {claims.commit.id}"
        raise Refused("wrong commit", message, "Commit them, and make the round trip again.")


def _expect_fresh(ended: str, demands: Demands) -> None:
    try:
        old = demands.now - datetime.datetime.fromisoformat(ended)
    except (ValueError, TypeError) as error:
        raise Refused("incomplete", f"{ended!r} is no time of its end") from error
    if old < -_AHEAD:
        raise Refused("stale", f"it says that it ended at {ended}, which is still to come")
    if demands.max_age is not None and old > demands.max_age:
        message = f"it ended at {ended}, more than {demands.max_age} ago"
        raise Refused("stale", message, "Make the round trip again.")


def _replayed(bundle: Bundle) -> int:
    """How many verdicts were made again; a round trip is of all checks of its suite, so none may be left out."""
    checks = replay(bundle.results)
    planned = {check.check for check in checks}
    missing = [check.check for check in collect(bundle.results.header.suite) if check.check not in planned]
    if missing:
        raise Refused("incomplete", f"it leaves out checks of its suite: {', '.join(missing[:3])}", "Make it again.")
    differ = [check for check in checks if not check.agrees]
    if differ:
        names = ", ".join(check.check for check in differ[:3])
        message = f"{len(differ)} of {len(checks)} verdicts do not follow from the exchanges: {names}"
        hint = f"It was made with turnproof {bundle.provenance.harness}: use that version, or do not trust it."
        raise Refused("not confirmed by replay", message, hint)
    return len(checks)
