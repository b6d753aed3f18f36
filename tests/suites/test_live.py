"""Live round trips: what conforms, what is found out, and a proxy at the far end."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness import far_end, parts
from harness.builtin import find_target
from harness.engine import Engine
from harness.errors import UsageError
from harness.exchange import Request, header
from harness.fakes.model.script import Answer, Rule, messages_of
from harness.fakes.model.server import ModelServer
from harness.fakes.plan import Plan
from harness.far_end import FarEnd, Provider
from harness.kilo_agent_target import REFERENCE as KILO
from harness.mutants.live import AGENTS, ENDPOINTS
from harness.mutants.mutant import Mutant
from harness.mutation import catch, family_of
from harness.replay import replay
from harness.results import Results
from harness.run import Observer, Order, run
from harness.target import Target
from harness.target_file import load
from harness.verdict import summarise
from tests.running import canned
from tests.suites.test_kilo_agent import MODES, doing_nothing

ENDPOINT, AGENT = "live_endpoint", "live_kilo_agent"


def judge(target: Target, suite: str, out: Path, expression: str = "", far: FarEnd = far_end.OURS) -> Results:
    results, error = run(Order(target, suite, expression, out=out, far=far), Observer())
    assert error is None
    return results


def verdicts(results: Results) -> dict[str, str]:
    return {row.requirement.id: row.verdict for row in summarise(results).rows}


@pytest.mark.parametrize(("target", "suite"), [("reference", ENDPOINT), (KILO, AGENT)])
def test_the_reference_conforms_and_its_replay_confirms_it(target: str, suite: str, tmp_path: Path) -> None:
    results = judge(find_target(target), suite, tmp_path)
    assert set(verdicts(results).values()) <= {"pass", "not-applicable"}
    assert [check.check for check in replay(results) if not check.agrees] == []


def stub(folder: Path, says: str) -> Target:
    """An endpoint that answers by itself, with everything behind it that it could use."""
    path = Path(canned(folder))
    given = f'env = {{ OPENCODE = "{{opencode_url}}", SAYS = "{says}",'
    path.write_text(path.read_text(encoding="utf-8").replace("env = {", given), encoding="utf-8")
    return load(path)


@pytest.mark.parametrize("says", ["ok", "echo", "words"])
def test_an_endpoint_that_answers_by_itself_is_found_out(says: str, tmp_path: Path) -> None:
    """A canned answer, the prompt as the answer, and every word that was ever seen."""
    results = judge(stub(tmp_path, says), ENDPOINT, tmp_path / "out")
    assert "pass" not in verdicts(results).values()
    assert verdicts(results)["LE-TURN-1"] == "fail"
    assert summarise(results).exit_code != 0


@pytest.mark.parametrize("mode", MODES)
def test_an_agent_that_does_nothing_is_found_out(mode: str, tmp_path: Path) -> None:
    assert "pass" not in verdicts(judge(doing_nothing(mode), AGENT, tmp_path)).values()


@pytest.mark.parametrize("mutant", ENDPOINTS, ids=lambda mutant: mutant.name)
def test_a_broken_endpoint_is_caught_by_what_it_names_and_nothing_else(mutant: Mutant[Any]) -> None:
    caught = catch(mutant, family=family_of(ENDPOINT))
    assert (caught.missed, caught.needless) == (frozenset(), frozenset())


@pytest.mark.parametrize("mutant", AGENTS, ids=lambda mutant: mutant.name)
def test_a_broken_agent_is_caught(mutant: Mutant[Any]) -> None:
    assert catch(mutant, family=family_of(AGENT)).missed == frozenset()


PROXIED = FarEnd(proxied=True)


@contextlib.contextmanager
def leaky(upstream: tuple[str, str], *_: object) -> Iterator[str]:
    """No proxy: what it is sent is sent on as it is, with its key."""
    yield upstream[0].removesuffix("/v1")


def test_a_proxy_that_hands_its_key_on_is_caught(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(far_end, "_litellm", leaky)
    monkeypatch.setattr(parts, "expect_litellm", lambda: None)
    monkeypatch.setattr(parts, "describe_litellm", lambda: {"name": "litellm"})
    results = judge(find_target("reference"), ENDPOINT, tmp_path, "TURN or PROXY", PROXIED)
    assert verdicts(results) == {"LE-TURN-1": "pass", "LE-PROXY-1": "fail"}
    assert {exchange.hop for exchange in results.exchanges.values()} == {"client", "opencode", "proxy", "model"}
    assert "sk-" not in (tmp_path / "results.jsonl").read_text(encoding="utf-8")


@pytest.mark.extra("litellm-proxy")
def test_a_litellm_proxy_keeps_its_key_for_itself(tmp_path: Path) -> None:
    results = judge(find_target("reference"), ENDPOINT, tmp_path, far=PROXIED)
    assert set(verdicts(results).values()) == {"pass"}
    assert [check.check for check in replay(results) if not check.agrees] == []


def test_without_litellm_it_is_said_how_to_do_without(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(far_end, "litellm_is_there", lambda: False)
    with pytest.raises(UsageError) as caught:
        judge(find_target("reference"), ENDPOINT, tmp_path, far=PROXIED)
    assert "--direct" in caught.value.hint


@pytest.fixture
def provider(engine: Engine) -> Iterator[Provider]:
    """A model server that is none of the run's own, and that does as it is asked in the prompt."""
    server = Obedient({"small-1", "vendor/large-1"})
    engine.call(server.start(), 10)
    yield Provider(f"{server.url}/v1", "sk-provider-0123456789")
    engine.call(server.stop(), 10)


class Obedient(ModelServer):
    """Says the last word of the prompt."""

    def _plan(self, request: Request) -> Plan:
        body = request.json()
        words = [word for role, text in messages_of(body) if role == "user" for word in text.split()]
        self.script.replace((Rule(None, (Answer(words[-1] if words else "ok"),)),))
        return super()._plan(request)


def test_a_provider_at_the_far_end_is_asked_in_the_prompt(provider: Provider, tmp_path: Path) -> None:
    results = judge(find_target("reference"), ENDPOINT, tmp_path, far=FarEnd(provider=provider))
    told = verdicts(results)
    assert told.pop("LE-TOOL-1") == "not-measured"
    assert told.pop("LE-PROXY-1") == "not-applicable"
    assert set(told.values()) == {"pass"}
    asked = [exchange for exchange in results.exchanges.values() if exchange.hop == "provider"]
    assert {header(one.request.headers, "authorization") for one in asked} == {"Bearer [secret:provider]"}
    assert provider.key not in (tmp_path / "results.jsonl").read_text(encoding="utf-8")
    assert [check.check for check in replay(results) if not check.agrees] == []


def test_an_echo_is_found_out_before_a_provider_too(provider: Provider, tmp_path: Path) -> None:
    results, _ = run(
        Order(stub(tmp_path, "echo"), ENDPOINT, "TURN", out=tmp_path / "out", far=FarEnd(provider=provider)), Observer()
    )
    assert verdicts(results) == {"LE-TURN-1": "fail"}
