"""`evidence.md`: evidence as a person reads it in a pull request, with a seal of its own.

It always fits into a comment: exchanges are shown with less, then in one line each, then not at all, and it says so.
What the target sent stands in fences or in code that it cannot break out of: no markup, no tag, no mention. No line of
it can look like the marks between which the evidence stands, since those begin a line.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from harness.evidence.claims import Claims, claims_of
from harness.evidence.diagram import diagram
from harness.evidence.proof import exchanges_of, unproved, words_of
from harness.evidence.provenance import Commit, Provenance
from harness.exchange import Exchange, Hop
from harness.reporting.blocks import LIMIT, escaped, fenced, folded, table
from harness.reporting.findings import account
from harness.reporting.transcript import transcript
from harness.reporting.visible import one_line, shortened
from harness.verdict import Checked, Row, Summary

MARKS = 1_000
"""Bytes that are left for the marks around it, and for a signature in them."""


@dataclass(frozen=True)
class _Detail:
    """How much is shown: so many characters of each body of the exchanges that are shown whole, None for all of them,
    the others in one line each; and whether diagrams are drawn."""

    body: int
    whole: frozenset[int] | None = None
    diagrams: bool = True
    note: str = ""

    def shows(self, exchange: Exchange) -> bool:
        """Whether an exchange is shown whole."""
        return self.whole is None or exchange.number in self.whole


_NONE: frozenset[int] = frozenset()
_SHORT = 300
_ALL_WHOLE = (_Detail(2000), _Detail(600, note="bodies are shortened further"))
_SOME_WHOLE = _Detail(_SHORT, _NONE, note="bodies are shortened, and the exchanges that tell least have one line")
_NO_DIAGRAMS = _Detail(0, _NONE, diagrams=False, note="exchanges have one line each, and there are no diagrams")
_TELLING: tuple[Hop, ...] = ("client", "model", "provider", "proxy", "opencode", "resources")
"""The hops in the order in which their exchanges are shown whole while there is room."""


def document(summary: Summary, provenance: Provenance, seal: str) -> str:
    """The document on a run whose bundle has this seal, in fewer than `LIMIT` bytes with its marks.

    The claims are its last block, as JSON, for whoever reads it by machine.
    """
    claims = claims_of(summary, provenance, seal)

    def text(detail: _Detail) -> str:
        return "\n\n".join(_blocks(summary, provenance, claims, detail))

    for detail in _ALL_WHOLE:
        if _room(text(detail)) > 0:
            return text(detail)
    room = _room(text(_SOME_WHOLE))
    if room > 0:
        return text(replace(_SOME_WHOLE, whole=_fitting(summary, room)))
    if _room(text(_NO_DIAGRAMS)) > 0:
        return text(_NO_DIAGRAMS)
    short = [*_head(summary, provenance, claims), "> The exchanges do not fit here; the bundle has them."]
    return "\n\n".join([*short, *_claims(claims)])


def _room(text: str) -> int:
    return LIMIT - MARKS - len(text.encode())


def _fitting(summary: Summary, room: int) -> frozenset[int]:
    """The exchanges that can be shown whole where there is room for so many bytes more: those that carry a word first,
    and of these the ones on the hops that tell most."""
    results = summary.results
    carrying = {n for checked in summary.checks for word in words_of(checked, results) for n, _, _ in word.seen}
    order = sorted(
        (exchange for checked in summary.checks for exchange in exchanges_of(checked, results)),
        key=lambda one: (one.number not in carrying, _TELLING.index(one.hop), one.number),
    )
    chosen: set[int] = set()
    for exchange in order:
        size = len("\n\n".join(_whole(exchange, _SHORT)).encode()) + 2
        if size < room:
            room -= size
            chosen.add(exchange.number)
    return frozenset(chosen)


def _blocks(summary: Summary, provenance: Provenance, claims: Claims, detail: _Detail) -> Iterator[str]:
    yield from _head(summary, provenance, claims)
    yield "### The exchanges"
    if detail.note:
        yield f"> To fit into a comment, {detail.note}; `evidence.json` has everything."
    for checked in dict.fromkeys(checked for row in summary.rows for checked in row.checks):
        yield from _check(checked, summary, detail)
    yield from _claims(claims)


def _head(summary: Summary, provenance: Provenance, claims: Claims) -> Iterator[str]:
    header = summary.results.header
    yield f"## Live round trip of {_code(header.target.name)}: {claims.result}"
    yield f"**{escaped(claims.headline)}**"
    yield table(("", ""), ((name, value) for name, value in _about(summary, provenance, claims)))
    columns = ("requirement", "level", "verdict", "what is to be shown")
    yield table(columns, map(_row, summary.rows))
    yield "### What this does not prove"
    yield "\n".join(f"- {_sentence(sentence)}" for sentence in unproved(summary, provenance))


def _about(summary: Summary, provenance: Provenance, claims: Claims) -> Iterator[tuple[str, str]]:
    header = summary.results.header
    yield "target", f"{_code(header.target.name)}, of kind {escaped(header.target.kind)}"
    yield "its commit", _commit(provenance.target)
    for part in header.parts:
        yield "part of the chain", _code(_part(part))
    yield "ran", escaped(f"{claims.started} to {claims.ended}, run {claims.run}")
    yield "turnproof", escaped(f"{provenance.harness}, sources sha256 {provenance.sources}")
    yield "on", escaped(f"Python {provenance.python}, {provenance.system}")
    yield "evidence.json", f"seal {_code(claims.bundle)}"


def _part(part: Mapping[str, str]) -> str:
    told = [f"{name} {value}" for name, value in part.items() if name not in ("name", "version")]
    return ", ".join([f"{part['name']} {part.get('version', '')}".rstrip(), *told])


def _commit(commit: Commit | None) -> str:
    if commit is None:
        return "not known"
    told = (
        " (a person said so)" if commit.claimed else ", with changes that are not committed" if commit.changed else ""
    )
    return _code(commit.id) + told


def _row(row: Row) -> tuple[str, ...]:
    verdict = row.verdict if row.verdict in ("pass", "not-applicable") else f"**{row.verdict}**"
    return escaped(row.requirement.id), row.requirement.level, verdict, escaped(row.requirement.statement)


def _sentence(text: str) -> str:
    """A sentence of `unproved`, which has names of parts in it."""
    return "`".join(piece if index % 2 else escaped(piece) for index, piece in enumerate(text.split("`")))


def _check(checked: Checked, summary: Summary, detail: _Detail) -> Iterator[str]:
    results = summary.results
    exchanges = exchanges_of(checked, results)
    ids = ", ".join(requirement.id for requirement in checked.requirements)
    count = f"{len(exchanges)} exchange{'' if len(exchanges) == 1 else 's'}"
    yield f"<details><summary>{html.escape(f'{ids}: {checked.title} - {checked.status}, {count}')}</summary>"
    if checked.result and checked.result.verdict != "pass":
        yield fenced("\n".join(_indented(f"{name + ':':<10}{text}") for name, text in account(checked, summary).lines))
    words = words_of(checked, results)
    if words:
        rows = ((f"`{one.word}`", one.planted, _places(one.seen)) for one in words)
        yield table(("word", "planted", "seen in"), rows)
    if exchanges and detail.diagrams:
        yield f"```mermaid\n{diagram(exchanges, results.header.target.kind)}\n```"
    if exchanges:
        yield from _exchanges(exchanges, detail)
    yield "</details>"


def _places(seen: tuple[tuple[int, str, str], ...]) -> str:
    return ", ".join(f"({number}) {hop} {side}" for number, hop, side in seen)


def _exchanges(exchanges: tuple[Exchange, ...], detail: _Detail) -> Iterator[str]:
    for one in exchanges:
        if detail.shows(one):
            yield from _whole(one, detail.body)
    short = [f"- ({one.number}) {one.hop}: {_code(_line(one))}" for one in exchanges if not detail.shows(one)]
    if short:
        yield "\n".join(short)


def _whole(exchange: Exchange, body: int) -> Iterator[str]:
    told = f"({exchange.number}) {exchange.hop}: <code>{html.escape(one_line(_line(exchange)))}</code>"
    return folded(told, fenced(transcript(exchange, body)))


def _line(exchange: Exchange) -> str:
    told = "no answer" if exchange.status is None else str(exchange.status)
    took = "" if exchange.duration is None else f" in {exchange.duration * 1000:.0f} ms"
    return f"{exchange.request.method} {exchange.request.path[:100]}, {told}{took}"


def _code(text: str) -> str:
    """A code span, in a table too: the two characters that would end it are shown as others that look alike."""
    return f"`{shortened(one_line(text), 200).translate({ord('`'): 'ˋ', ord('|'): '¦'}) or ' '}`"


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.split("\n"))


def _claims(claims: Claims) -> Iterator[str]:
    """The claims, in one line of JSON that has no character in it that ends a fence or a comment."""
    yield from (
        "<details><summary>the same for machines</summary>",
        f"```json\n{_one_line(claims)}\n```",
        "</details>",
    )


def _one_line(claims: Claims) -> str:
    text = json.dumps(claims.to_json())
    for character in "`<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
