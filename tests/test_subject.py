from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.actors import Client
from harness.chat import ask
from harness.engine import Engine
from harness.exchange import Exchange, Hop, Request
from harness.journal import Journal
from harness.results import CheckResult, Finding, Verdict
from harness.subject import Context, LiveSubject, RecordedSubject, is_stray
from harness.supervised import Supervised
from harness.world import derive_nonce
from tests.sample_results import exchange
from tests.staging import KEY, answering, launch_at, recorded, serving

OWN, FOREIGN = (derive_nonce("s1", check, "asked") for check in ("own", "foreign"))
RESULT = CheckResult("c", ("AE-AUTH-1",), "pass", 0.1)


@pytest.mark.parametrize(
    ("body", "hop", "stray"),
    [
        (FOREIGN, "model", True),
        (FOREIGN, "opencode", True),
        (FOREIGN, "client", False),
        (OWN, "model", False),
        (OWN + FOREIGN, "model", False),
        ("no word at all", "model", False),
    ],
)
def test_exchange_behind_the_target_with_only_foreign_words_is_stray(body: str, hop: Hop, stray: bool) -> None:
    assert is_stray(exchange(request=Request("POST", "/", (), body.encode()), hop=hop), {OWN}) is stray


def ask_once(context: Context) -> Exchange:
    """A prompt with a nonce and the key in it."""
    client = Client(context.world, context.running, context.keys)
    return client.send("ask", ask("solver", f"{context.world.nonce('asked')} {client.secret('main')}"), key="main")


def records_of(engine: Engine, journal: Journal, result: CheckResult = RESULT) -> list[dict[str, Any]]:
    """What a check leaves that asks once, while another's call comes late."""
    echo = answering(lambda request: (200, {"heard": request.body.decode(), "by": dict(request.headers)}))
    with serving(engine, echo) as url, launch_at(engine, url, journal) as launch:
        subject = LiveSubject(launch, "s1")
        context = subject.begin("c")
        journal.record("model", Request("POST", "/", (), FOREIGN.encode())).close("complete")
        ask_once(context)
        return subject.end(context, result)


def of_kind(records: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [record for record in records if record["record"] == kind]


def test_stray_exchange_is_kept_and_marked(engine: Engine) -> None:
    records = of_kind(records_of(engine, Journal()), "exchange")
    assert [(record["hop"], record["stray"]) for record in records] == [("model", True), ("client", False)]


def test_check_is_proved_by_its_own_exchanges_only(engine: Engine) -> None:
    records = records_of(engine, Journal())
    (own,) = (record["number"] for record in of_kind(records, "exchange") if not record["stray"])
    assert of_kind(records, "check")[0]["exchanges"] == [own]


def test_records_end_with_the_verdict(engine: Engine) -> None:
    assert [record["record"] for record in records_of(engine, Journal())] == ["exchange", "exchange", "act", "check"]


def test_no_record_holds_a_secret(engine: Engine) -> None:
    told = Finding(f"not {KEY}", f"came {KEY}", "mend")
    records = records_of(engine, Journal(), CheckResult("c", ("AE-AUTH-1",), "fail", 0.1, finding=told))
    assert KEY not in json.dumps(records)
    assert json.dumps(records).count("[secret:key.main]") >= 6


def test_window_is_closed_at_the_end_of_a_check(engine: Engine) -> None:
    journal = Journal()
    records_of(engine, journal)
    assert journal.seen() == ()


def test_recorded_check_is_made_again_with_placeholders_for_keys(engine: Engine, tmp_path: Path) -> None:
    run = recorded(records_of(engine, Journal()), tmp_path)
    context = RecordedSubject(run).begin("c")
    assert (context.running, dict(context.keys)) == (None, {"main": "[secret:key.main]"})


def test_recorded_exchange_is_what_a_replay_is_shown(engine: Engine, tmp_path: Path) -> None:
    run = recorded(records_of(engine, Journal()), tmp_path)
    seen = ask_once(RecordedSubject(run).begin("c"))
    assert seen == run.exchanges[seen.number]


def output_of(engine: Engine, verdict: Verdict, text: str) -> Any:
    """What the record of a check says of a process that wrote `text` during it."""
    with launch_at(engine, "http://127.0.0.1:9") as launch:
        subject = LiveSubject(launch, "s1")
        context = subject.begin("c")
        writes = [sys.executable, "-S", "-c", "import sys; sys.stderr.write(sys.argv[1])", text]
        with Supervised.start(writes, env={}, cwd=Path.cwd(), name="target") as process:
            launch.hearing.add(process)
            process.wait(60)
            return of_kind(subject.end(context, replace(RESULT, verdict=verdict)), "check")[0].get("output")


@pytest.mark.parametrize("verdict", ["fail", "inconclusive", "error"])
def test_check_that_did_not_pass_keeps_what_the_target_wrote(engine: Engine, verdict: Verdict) -> None:
    assert output_of(engine, verdict, "KeyError: 'x'\n") == "KeyError: 'x'\n"


@pytest.mark.parametrize("verdict", ["pass", "not-measured", "not-applicable"])
def test_check_that_did_not_fail_keeps_nothing_of_what_the_target_wrote(engine: Engine, verdict: Verdict) -> None:
    assert output_of(engine, verdict, "all is well\n") is None


def test_secret_in_what_the_target_wrote_is_replaced_before_it_is_cut(engine: Engine) -> None:
    output = output_of(engine, "fail", f"{KEY}\n" * 1000)
    assert (len(output), set(output.splitlines()[1:])) == (4000, {"[secret:key.main]"})


def test_check_during_which_the_target_wrote_nothing_tells_no_output(engine: Engine) -> None:
    assert output_of(engine, "fail", "") is None
