"""Markdown evidence: it fits, it says what it does not prove, and nothing that a target sent gets out of its place."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from harness.evidence.diagram import MESSAGES, diagram
from harness.evidence.live import evidence
from harness.evidence.marked import BEGIN, found_in
from harness.evidence.proof import unproved
from harness.evidence.provenance import Commit, Provenance
from harness.exchange import Hop, Request
from harness.results import Results
from harness.verdict import summarise
from tests.evidence.samples import HOSTILE, PROVENANCE, files
from tests.sample_results import FACTS, exchange, finding, records, result, results

FENCE = re.compile(r"^(`{3,})[a-z]*$")


def outside_fences(text: str) -> list[str]:
    """The lines that Markdown reads as Markdown."""
    kept, fence = [], ""
    for line in text.split("\n"):
        match = FENCE.match(line)
        if not fence and match:
            fence = match[1]
        elif fence and line == fence:
            fence = ""
        elif not fence:
            kept.append(line)
    assert not fence, "a fence has no end"
    return kept


def hostile_run() -> Results:
    """A run in which everything that comes from outside is hostile."""
    request = Request("GET", f"/{HOSTILE}", ((HOSTILE, HOSTILE),), HOSTILE.encode())
    exchanges = [
        exchange(number, request, [HOSTILE.encode(), b"\xff"], headers=(("content-type", media), (HOSTILE, HOSTILE)))
        for number, media in ((1, "text/plain"), (2, "text/event-stream"))
    ]
    found = finding(1, expected=HOSTILE, came=HOSTILE, mend=HOSTILE)
    checks = [replace(result("c1", ("AE-AUTH-1",), "fail", found), exchanges=(1, 2))]
    target = replace(FACTS, name=HOSTILE)
    return results(checks, exchanges=exchanges, target=target, parts=({"name": HOSTILE, "version": HOSTILE},))


def test_nothing_that_a_target_sent_is_read_as_markup() -> None:
    text = evidence(records(hostile_run()), PROVENANCE).markdown
    assert len(found_in(text)) == 1
    assert text.split("\n").count(BEGIN) == 1
    lines = outside_fences(text)
    tags = {tag for line in lines for tag in re.findall(r"<[^>]*>", re.sub(r"`[^`]*`", "", line))}
    marks = {tag for tag in tags if tag.startswith("<!--")}
    assert tags - marks <= {"<details>", "</details>", "<summary>", "</summary>", "<code>", "</code>"}
    opened, closed = (sum(line.startswith(tag) for line in lines) for tag in ("<details>", "</details>"))
    assert opened == closed
    unmentioned = [re.sub(r"`[^`]*`|<code>.*?</code>", "", line) for line in lines]
    assert not [line for line in unmentioned if "@someone" in line]


def test_a_run_of_many_long_exchanges_fits_into_a_comment() -> None:
    for count in (10, 100, 1000):
        exchanges = [exchange(number, chunks=[b"x" * 5000]) for number in range(1, count + 1)]
        checks = [replace(result("c1", ("AE-AUTH-1",), "pass"), exchanges=tuple(range(1, count + 1)))]
        text = evidence(records(results(checks, exchanges=exchanges)), PROVENANCE).markdown
        assert len(text) < 65_536
        assert found_in(text)[0].claims.exchanges == count


def test_the_summary_comes_first_and_the_claims_last() -> None:
    lines = files().markdown.split("\n")
    assert lines[2].startswith("## Live round trip of `sample`: FAILED")
    assert lines[4].startswith("**does not conform: 1 of 2 MUSTs fails")
    assert lines.index("### What this does not prove") < lines.index("### The exchanges")


def test_the_same_run_gives_the_same_evidence() -> None:
    assert files() == files()


def sentences(run: Results, provenance: Provenance = PROVENANCE) -> str:
    return "\n".join(unproved(summarise(run), provenance))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"hop": "model"}, "scripted"),
        ({"hop": "provider"}, "asked for in the prompt"),
        ({"hop": "client"}, "Any round trip"),
        ({"parts": ({"name": "opencode stand-in", "version": "1"},)}, "real opencode"),
        ({"parts": ({"name": "opencode", "version": "1"},)}, "behind a LiteLLM proxy"),
        ({"parts": ()}, "Which opencode it was"),
        ({"target": replace(FACTS, url_given=True)}, "server at the URL"),
    ],
)
def test_what_is_not_proved_is_said(changes: dict[str, Any], said: str) -> None:
    hop = changes.pop("hop", "model")
    run = results([result("c1", ("AE-AUTH-1",), "pass")], exchanges=[exchange(1, hop=hop)], **changes)
    assert said in sentences(run)


@pytest.mark.parametrize(
    ("commit", "said"),
    [
        (None, "could not see"),
        (Commit("a" * 40, claimed=True), "a person said so"),
        (Commit("a" * 40, changed=True), "not committed"),
        (Commit("a" * 40), "deployed elsewhere"),
    ],
)
def test_it_is_said_how_far_the_commit_is_known(commit: Commit | None, said: str) -> None:
    assert said in sentences(results([]), replace(PROVENANCE, target=commit))


def test_a_diagram_has_arrows_in_the_order_of_time_with_times() -> None:
    hops: tuple[Hop, ...] = ("client", "opencode", "model")
    drawn = diagram([exchange(number, hop=hop) for number, hop in enumerate(hops, 1)], "agent-endpoint")
    assert drawn.split("\n")[:4] == [
        "sequenceDiagram",
        "    participant client as turnproof client",
        "    participant target as target",
        "    participant opencode as opencode",
    ]
    assert "    client->>target: (1) POST /v1/chat/completions at 0 ms" in drawn
    assert "    model-->>opencode: (3) 404 after 12 ms" in drawn


def test_the_model_is_asked_by_whoever_is_before_it() -> None:
    calls = [exchange(1, hop="model")]
    assert "kilo->>model" in diagram(calls, "kilo-agent")
    assert "proxy->>model" in diagram([exchange(2, hop="proxy"), *calls], "agent-endpoint")


def test_nothing_in_a_diagram_is_read_by_mermaid() -> None:
    path = "/a;end\nclient->>target: hi %%{init: x}%%#lt;"
    drawn = diagram([exchange(1, Request("GET", path), hop="opencode")], "agent-endpoint")
    (asked,) = [line for line in drawn.split("\n") if "->>" in line and "-->>" not in line]
    assert re.fullmatch(r"    target->>opencode: \(1\) [A-Za-z0-9 ./_-]+ at 0 ms", asked)
    assert not re.search(r"\bend\b", asked)


def test_a_long_diagram_says_what_it_leaves_out() -> None:
    drawn = diagram([exchange(number) for number in range(1, MESSAGES)], "agent-endpoint")
    assert "more arrows are left out" in drawn
