"""What `turnproof verify` says of evidence that it accepts, and of a results file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from harness.evidence.verification import Verified
from harness.replay import Replayed
from harness.reporting.headline import headline
from harness.reporting.visible import one_line
from harness.results import CheckResult
from harness.verdict import Summary


def told(verified: Sequence[Verified]) -> dict[str, Any]:
    """All of it as a JSON object."""
    return {
        "accepted": [
            {
                "form": one.form,
                "claims": one.claims.to_json(),
                "signed_by": one.signed_by,
                "signatures": [signature.keyid for signature in one.signatures],
                "replayed": one.replayed,
            }
            for one in verified
        ]
    }


def lines_of(verified: Sequence[Verified]) -> Iterator[str]:
    """All of it in lines for people, safe to show."""
    for one in verified:
        yield from map(one_line, _lines(one))


def told_of_replay(summary: Summary, checks: Sequence[Replayed]) -> dict[str, Any]:
    """What a results file says, and what came of its checks when they were made again, as a JSON object."""
    differing = [
        {
            "check": check.check,
            "recorded": _verdict(check.recorded),
            "replayed": _verdict(check.again),
            "difference": check.difference,
        }
        for check in checks
        if not check.agrees
    ]
    confirmed = len(checks) - len(differing)
    says = {"headline": headline(summary), "exit_code": summary.exit_code}
    return {**says, "checks": len(checks), "confirmed": confirmed, "differing": differing}


def lines_of_replay(summary: Summary, checks: Sequence[Replayed]) -> Iterator[str]:
    """The same in lines for people, safe to show."""
    told = told_of_replay(summary, checks)
    yield f"it says    {told['headline']}"
    for check in told["differing"]:
        yield one_line(f"differs    {check['check']}: {check['difference']}")
    yield f"verdicts   {told['confirmed']} of {told['checks']} were confirmed by replay"


def _verdict(result: CheckResult | None) -> str | None:
    return result.verdict if result else None


def _lines(one: Verified) -> Iterator[str]:
    claims = one.claims
    yield f"{one.form} of {claims.target} ({claims.kind}), {claims.ended}, run {claims.run}"
    yield f"  says       {claims.headline}"
    yield f"  commit     {_commit(one)}"
    yield "  seal       whole: nothing was edited since it was made; it does not say who made it"
    yield f"  signature  {_signature(one)}"
    yield f"  verdicts   {_verdicts(one)}"


def _commit(one: Verified) -> str:
    commit = one.claims.commit
    if commit is None:
        return "not known"
    if commit.claimed:
        return f"{commit.id}, as a person said"
    return f"{commit.id}, with changes that are not committed" if commit.changed else commit.id


def _signature(one: Verified) -> str:
    if one.signed_by is not None:
        return f"by the key that was given, {one.signed_by[:16]}"
    if one.signatures:
        return "there, and not checked: give the public key with --key"
    return "none"


def _verdicts(one: Verified) -> str:
    if one.replayed is None:
        return "not re-checked: Markdown has no exchanges to make them from; give evidence.json, or --bundle with it"
    return f"all {one.replayed} made again from the exchanges, and confirmed"
