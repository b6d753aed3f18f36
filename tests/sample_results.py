"""Builds small results for tests: say what differs, the rest is plain."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from harness.cell import Share
from harness.exchange import Chunk, End, Exchange, Headers, Hop, Request, exchange_to_json
from harness.redaction import Redactor
from harness.requirements import Level, Requirement
from harness.results import CheckResult, Finding, Footer, Header, Outcome, Planned, Results, Verdict, Writer
from harness.target import Agent, Facts, Policies
from harness.target_keys import KeyFacts
from harness.verdict import Status, Summary, summarise
from harness.waiver import Waiver

SCHEMAS = Path(__file__).parent.parent / "fixtures" / "schemas"
SIGNATURE = "0123456789abcdef"
HOSTILE = "[red]x[/red] `y` ``` | <b>&\x00\x1b[31m\ud800\u2028\u202e\r\n]]>"
FACTS = Facts(
    kind="agent-endpoint",
    name="sample",
    agents=(Agent("research", "litellm", "large-1"),),
    keys=(KeyFacts("main", "valid", ("research",)),),
    capabilities=("mint",),
    policies=Policies(),
    deadline=60.0,
    abort_grace=1.0,
    url_given=False,
)


def requirement(id_: str, level: Level = "MUST", capability: str | None = None) -> Requirement:
    return Requirement(id_, level, f"The statement of {id_}.", ("A",), capability)


def waiver(requirement: str, **differing: Any) -> Waiver:
    """A waiver in force for a failure of signature `SIGNATURE` of the check that `with_verdicts` makes."""
    plain = {
        "owner": "Jo",
        "reason": "the vendor has to mend it",
        "link": "https://example.org/1",
        "until": "2026-12-31",
        "signature": SIGNATURE,
        "covers": (f"check {requirement}",),
    }
    return Waiver(requirement, **{**plain, **differing})


def finding(exchange: int | None = None, **texts: str) -> Finding:
    plain = {"expected": "status 401", "came": "status 404", "mend": "Check the key before the model."}
    return Finding(**{**plain, **texts}, exchange=exchange)


def result(
    check: str, requirements: tuple[str, ...], verdict: Verdict, finding: Finding | None = None, reason: str = "because"
) -> CheckResult:
    """A result; that of a failure has the signature `SIGNATURE`."""
    told = None if verdict == "pass" or finding else reason
    numbers = (finding.exchange,) if finding and finding.exchange else ()
    signature = SIGNATURE if verdict == "fail" else None
    return CheckResult(check, requirements, verdict, 0.25, numbers, finding, told, signature)


def exchange(
    number: int = 1,
    request: Request | None = None,
    chunks: Iterable[bytes] = (b'{"error":{"message":"no"}}',),
    status: int | None = 404,
    headers: Headers = (("Content-Type", "application/json"),),
    end: End = "complete",
    hop: Hop = "client",
    **rest: Any,
) -> Exchange:
    asked = request or Request(
        "POST", "/v1/chat/completions", (("authorization", "Bearer [secret:main]"),), b'{"model":"research"}'
    )
    pieces = tuple(Chunk(0.01 * number, data) for number, data in enumerate(chunks))
    return Exchange(number, hop, asked, 0.5, None, status, headers, pieces, end, 0.0123, **rest)


def results(
    checks: Iterable[CheckResult | Planned] = (),
    requirements: Iterable[Requirement] | None = None,
    outcome: Outcome | None = "finished",
    error: str | None = None,
    exchanges: Iterable[Exchange] = (),
    strays: tuple[int, ...] = (),
    strict: bool = False,
    require_all: bool = False,
    **header: Any,
) -> Results:
    """Results of `checks`; a Planned among them did not run. Requirements not given are MUSTs."""
    entries = tuple(checks)
    made = tuple(entry for entry in entries if isinstance(entry, CheckResult))
    planned = tuple(
        entry if isinstance(entry, Planned) else Planned(entry.check, entry.requirements, f"title of {entry.check}")
        for entry in entries
    )
    ids = dict.fromkeys(id_ for entry in entries for id_ in entry.requirements)
    fields: dict[str, Any] = {
        "run": "r1",
        "seed": "s1",
        "started": "2026-11-29T12:00:00Z",
        "harness": "0.1.0",
        "suite": "agent_endpoint",
        "target": FACTS,
        "share": Share("sha256:" + 64 * "0"),
        "parts": ({"name": "opencode", "version": "1.18.33", "digest": "sha256:abc"},),
        **header,
    }
    return Results(
        Header(
            **fields,
            strict=strict,
            require_all=require_all,
            planned=planned,
            requirements=tuple(requirements) if requirements is not None else tuple(map(requirement, ids)),
        ),
        made,
        exchanges={entry.number: entry for entry in exchanges},
        strays=strays,
        footer=Footer(outcome, len(planned), len(made), "2026-11-29T12:00:09Z", error) if outcome else None,
    )


def with_verdicts(*verdicts: Status, level: Level = "MUST", **rest: Any) -> Summary:
    """A summary of one check for each verdict, each of a requirement of its own; a waived one has a waiver."""
    ids = [f"AE-GROUP-{number}" for number in range(1, len(verdicts) + 1)]
    checks = [_with_verdict(id_, verdict) for id_, verdict in zip(ids, verdicts, strict=True)]
    waived = (waiver(id_) for id_, verdict in zip(ids, verdicts, strict=True) if verdict == "waived")
    rows = [requirement(id_, level) for id_ in ids]
    return summarise(results(checks, rows, **{"waivers": tuple(waived), **rest}))


def _with_verdict(id_: str, status: Status) -> CheckResult | Planned:
    if status == "not-run":
        return Planned(f"check {id_}", (id_,), f"title of check {id_}")
    verdict: Verdict = "fail" if status == "waived" else status
    return result(f"check {id_}", (id_,), verdict, finding() if verdict == "fail" else None)


def hostile_summary() -> Summary:
    """A failing check where everything that comes from outside is hostile."""
    asked = Request("POST", f"/{HOSTILE}", (("x-hostile", HOSTILE),), HOSTILE.encode("utf-8", "replace"))
    shown = exchange(
        1, asked, [HOSTILE.encode("utf-8", "surrogatepass"), b"\xff\x00"], headers=((HOSTILE, HOSTILE),), error=HOSTILE
    )
    beside = exchange(2, asked, [HOSTILE.encode("utf-8", "surrogatepass")], None, hop="opencode", fault=HOSTILE)
    failed = result("c1", ("AE-AUTH-1",), "fail", finding(1, expected=HOSTILE, came=HOSTILE, mend=HOSTILE))
    failed = replace(failed, exchanges=(1, 2), output=f"{HOSTILE}\n{HOSTILE}")
    broke = result("c2", ("AE-AUTH-2",), "inconclusive", reason=HOSTILE)
    absent = result("c3", ("AE-AUTH-3",), "not-measured", reason=HOSTILE)
    waived = result("c5", ("AE-AUTH-5",), "fail", finding())
    told = {"owner": HOSTILE, "reason": HOSTILE, "link": HOSTILE}
    waivers = (waiver("AE-AUTH-5", covers=("c5",), **told), waiver(HOSTILE, check=HOSTILE, covers=(), **told))
    checks = [failed, broke, absent, result("c4", ("AE-AUTH-4",), "pass"), waived]
    return summarise(results(checks, exchanges=[shown, beside], strays=(1,), waivers=waivers))


def mixed_summary() -> Summary:
    """A run with most verdicts, as a person may see it."""
    rows = [
        Requirement("AE-AUTH-1", "MUST", "A request without a valid key is refused with 401 before all else.", ("A",)),
        Requirement("AE-AUTH-2", "MUST", "A revoked or expired key is refused.", ("A",)),
        Requirement("AE-AUTH-3", "SHOULD", "The refusal does not tell whether the key ever existed.", ("A",)),
        Requirement("AE-STREAM-1", "MUST", "Events come in order, and `[DONE]` ends them.", ("B",)),
        Requirement("AE-RATE-1", "MUST", "Requests over the cap get 429.", ("B",), "rate_cap"),
        Requirement("AE-TURN-1", "MUST", "An aborted turn makes no further model call.", ("B",)),
    ]
    cut = exchange(
        12,
        chunks=[b'data: {"choices":[{"delta":{"content":"a"}}]}\n\n', b'data: {"error":{"message":"no"}}\n\n'],
        status=200,
        headers=(("content-type", "text/event-stream"),),
        end="cut",
    )
    mend = "Send `data: [DONE]` after the last chunk, also after an error, and only then close the connection."
    unended = finding(12, expected="`data: [DONE]` ends the stream", came="it was cut after 2 events", mend=mend)
    asked = Request("POST", "/session/ses_1/message", (), b"{}")
    refused = b'{"info":{"id":"msg_1","error":{"name":"ProviderAuthError","data":{"message":"no key"}}},"parts":[]}'
    behind = exchange(13, asked, [refused], 200, hop="opencode")
    checks = [
        replace(result("a1", ("AE-AUTH-1",), "fail", finding(7)), output="Traceback:\n  line 7\nKeyError: 'key'\n"),
        result("a2", ("AE-AUTH-2",), "pass"),
        result("a2b", ("AE-AUTH-2",), "not-measured", reason="no revoked key can be minted"),
        result("a3", ("AE-AUTH-3",), "fail", finding()),
        replace(result("s1", ("AE-STREAM-1",), "fail", unended), exchanges=(12, 13)),
        result("r1", ("AE-RATE-1",), "not-applicable"),
        result("t1", ("AE-TURN-1",), "inconclusive", reason="the turn was over before it could be aborted"),
    ]
    return summarise(results(checks, rows, exchanges=[exchange(7), cut, behind], strays=(12,)))


def records(sample: Results) -> list[dict[str, Any]]:
    """The sample as the records of a results file."""
    lines = [
        {"record": "exchange", "check": None, "stray": number in sample.strays, **exchange_to_json(entry)}
        for number, entry in sample.exchanges.items()
    ]
    acts = [act.to_json() for act in sample.acts]
    checks = [check.to_json() for check in sample.checks]
    footer = [sample.footer.to_json()] if sample.footer else []
    return [sample.header.to_json(), *lines, *acts, *checks, *footer]


def write(sample: Results, path: Path, redactor: Redactor | None = None) -> Path:
    """Write the sample to `path` as a run does."""
    stream = io.StringIO(newline="\n")
    writer = Writer(stream, redactor or Redactor())
    for record in records(sample):
        writer.write(record)
    path.write_bytes(stream.getvalue().encode("utf-8"))
    return path


def schema_errors(name: str, value: Any) -> list[str]:
    """What in `value` breaks the schema `name`, after a round trip through JSON text."""
    documents = {path.name: json.loads(path.read_text(encoding="utf-8")) for path in SCHEMAS.glob("*.json")}
    registry: Registry[Any] = Registry().with_contents([])
    for known, document in documents.items():
        registry = registry.with_resource(known, Resource.from_contents(document))
    validator = Draft202012Validator(documents[name], registry=registry)
    return [error.message for error in validator.iter_errors(json.loads(json.dumps(value)))]
