"""`turnproof live` and `turnproof verify`, from the command to its files and back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness.cli import main
from harness.evidence.live import BUNDLE, ENVELOPE, MARKDOWN
from tests.evidence.signed import KEY, OTHER


def turnproof(*arguments: str, given: str | None = None) -> Result:
    return CliRunner().invoke(main, arguments, input=given)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The evidence of a round trip over the stand-in, signed."""
    folder = tmp_path_factory.mktemp("live")
    private, _ = KEY.write(folder)
    OTHER.write(folder, "other")
    options = ["--direct", "--opencode", "stand-in", "--sign", str(private), "--out", str(folder)]
    told = turnproof("live", *options)
    assert told.exit_code == 0, told.output
    assert "conforms: all 5 MUSTs pass" in told.stdout
    assert "evidence.md to paste" in told.stderr
    return folder


def test_each_form_is_accepted_and_what_has_exchanges_is_replayed(made: Path) -> None:
    for name, verdicts in ((MARKDOWN, "not re-checked"), (BUNDLE, "all 6 made again"), (ENVELOPE, "all 6 made again")):
        told = turnproof("verify", str(made / name), "--max-age", "1h")
        assert told.exit_code == 0, told.output
        assert verdicts in told.stdout
    told = turnproof("verify", str(made / MARKDOWN), "--bundle", str(made / BUNDLE))
    assert "all 6 made again" in told.stdout


def test_a_pull_request_is_read_from_standard_input(made: Path) -> None:
    text = f"# Ours\r\n\r\n{(made / MARKDOWN).read_text()}\r\nPlease merge.\r\n"
    told = turnproof("verify", "--json", "--key", str(made / "key.pub"), given=text)
    assert told.exit_code == 0, told.output
    (accepted,) = json.loads(told.stdout)["accepted"]
    assert (accepted["form"], accepted["replayed"]) == ("Markdown", None)
    assert accepted["signed_by"]


@pytest.mark.parametrize("name", [MARKDOWN, ENVELOPE, BUNDLE])
def test_another_key_is_refused(made: Path, name: str) -> None:
    told = turnproof("verify", str(made / name), "--key", str(made / "other.pub"))
    assert told.exit_code == 16
    assert told.stderr.startswith("refused, wrongly signed: ")


def test_evidence_fits_and_holds_no_secret(made: Path) -> None:
    for name in (MARKDOWN, BUNDLE):
        text = (made / name).read_text()
        assert "[secret:key.main]" in text
        assert "[secret:opencode]" in text
    assert len((made / MARKDOWN).read_text()) < 65_536


def test_a_word_that_was_lost_and_sealed_anew_is_found_by_replay(made: Path) -> None:
    """Whoever forges an exchange must forge all that follows from it."""
    bundle = json.loads((made / BUNDLE).read_text())
    own = bundle["predicate"]["turnproof"]
    lost = next(r for r in own["records"] if r["record"] == "exchange" and r["label"] == "ask" and r["status"] == 200)
    lost["chunks"] = [[at, text.replace("tp", "qq")] for at, text in lost["chunks"]]
    refused = turnproof("verify", given=forged(own))
    assert refused.exit_code == 17
    assert "do not follow from the exchanges" in refused.stderr


def test_a_verdict_that_is_turned_and_sealed_anew_is_found_by_replay(made: Path) -> None:
    own = json.loads((made / BUNDLE).read_text())["predicate"]["turnproof"]
    check = next(r for r in own["records"] if r["record"] == "check" and r["verdict"] == "pass")
    check["verdict"] = "not-measured"
    assert turnproof("verify", given=forged(own)).exit_code == 17


def test_a_check_that_was_left_out_with_all_that_tells_of_it_is_missed(made: Path) -> None:
    """Otherwise whoever fails one would plan the others alone."""
    own = json.loads((made / BUNDLE).read_text())["predicate"]["turnproof"]
    header, *records, footer = own["records"]
    left_out, *planned = header["planned"]
    rows = [row for row in header["requirements"] if any(row["id"] in check["requirements"] for check in planned)]
    kept = [record for record in records if record["check"] != left_out["check"]]
    footer = {**footer, "planned": len(planned), "run": len(planned)}
    own["records"] = [{**header, "planned": planned, "requirements": rows}, *kept, footer]
    told = turnproof("verify", given=forged(own))
    assert told.exit_code == 13, told.output
    assert f"leaves out checks of its suite: {left_out['check']}" in told.stderr


def test_a_requirement_that_was_made_milder_and_sealed_anew_is_found(made: Path) -> None:
    own = json.loads((made / BUNDLE).read_text())["predicate"]["turnproof"]
    own["records"][0]["requirements"][0]["level"] = "MAY"
    assert turnproof("verify", given=forged(own)).exit_code == 17


def forged(own: dict[str, object]) -> str:
    """A bundle of these records that agrees with itself."""
    from harness.evidence.provenance import Provenance
    from harness.evidence.statement import statement_of
    from tests.evidence.samples import bundle

    return bundle(statement_of(own["records"], Provenance.from_json(own["provenance"])))  # type: ignore[arg-type]


def test_evidence_of_an_endpoint_that_does_not_conform_says_so(tmp_path: Path) -> None:
    out = tmp_path / "out"
    options = ["--direct", "--opencode", "stand-in", "--out", str(out), "--json"]
    told = turnproof("live", "mutant:tells_why", *options)
    assert (told.exit_code, json.loads(told.stdout)["exit_code"]) == (1, 1)
    verified = turnproof("verify", str(out / BUNDLE))
    assert verified.exit_code == 1
    assert "says       does not conform: 1 of 5 MUSTs fails" in verified.stdout
    assert "## Live round trip of `mutant tells_why`: FAILED" in (out / MARKDOWN).read_text()


def test_evidence_of_an_earlier_run_does_not_stay(tmp_path: Path) -> None:
    (tmp_path / MARKDOWN).write_text("of yesterday")
    (tmp_path / "gone.toml").write_text(GONE)
    told = turnproof("live", str(tmp_path / "gone.toml"), "--direct", "--opencode", "stand-in", "--out", str(tmp_path))
    assert told.exit_code == 3, told.output
    assert not (tmp_path / MARKDOWN).exists()


GONE = """
kind = "agent-endpoint"
name = "gone"
[start]
command = ["{python}", "-c", "print('{opencode_url}')"]
[[agents]]
id = "solver"
[[keys]]
name = "main"
state = "valid"
agents = ["solver"]
command = ["{python}", "-c", "print('a-key-of-the-tests')"]
"""
