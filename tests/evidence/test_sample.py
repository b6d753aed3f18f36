"""The committed sample of evidence: made anew it is the same, and it is accepted."""

from __future__ import annotations

import datetime
from pathlib import Path

from harness.evidence.__main__ import again, main
from harness.evidence.live import BUNDLE, MARKDOWN
from harness.evidence.verification import Demands, verify
from tests.evidence.samples import files, sample
from tests.sample_results import records, write

SAMPLE = Path(__file__).parents[2] / "reports" / "sample" / "live"
HOW = "make it anew: remove it, turnproof live --direct --opencode stand-in --out reports/sample/live, remove all but "
HOW += "results.jsonl, python -m harness.evidence reports/sample/live, remove results.jsonl"


def test_the_sample_is_what_its_records_give() -> None:
    bundle = (SAMPLE / BUNDLE).read_text(encoding="utf-8")
    made = again(bundle)
    assert made.bundle == bundle, HOW
    assert made.markdown == (SAMPLE / MARKDOWN).read_text(encoding="utf-8"), HOW


def test_the_sample_is_accepted_and_its_verdicts_are_confirmed() -> None:
    demands = Demands(now=datetime.datetime.now(datetime.UTC))
    bundle = (SAMPLE / BUNDLE).read_text(encoding="utf-8")
    (one,) = verify((SAMPLE / MARKDOWN).read_text(encoding="utf-8"), demands, bundle)
    assert (one.replayed, one.claims.result) == (6, "PASSED"), HOW


def test_a_bundle_made_anew_is_the_same() -> None:
    assert again(files().bundle) == files()


def test_evidence_is_made_of_a_results_file_alone(tmp_path: Path) -> None:
    write(sample(), tmp_path / "results.jsonl")
    main(tmp_path)
    first = (tmp_path / BUNDLE).read_text(encoding="utf-8")
    main(tmp_path)
    assert (tmp_path / BUNDLE).read_text(encoding="utf-8") == first
    assert len(records(sample())) == first.count('"record":')
