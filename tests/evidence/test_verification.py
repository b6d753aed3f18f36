"""Evidence is refused for a reason of its own, and accepted as what it is."""

from __future__ import annotations

import contextlib
import datetime
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.errors import UsageError
from harness.evidence.bundle import read_bundle
from harness.evidence.marked import BEGIN, found_in, marked
from harness.evidence.provenance import Commit
from harness.evidence.refusal import EXIT_CODES, Reason, Refused
from harness.evidence.signing import private_key, public_key
from harness.evidence.statement import sealed
from harness.evidence.verification import Demands, age, verify
from harness.results import Outcome
from tests.evidence.samples import COMMIT, NOW, PLAIN, PROVENANCE, changed, files, leaves
from tests.evidence.signed import KEY, OTHER

MARKDOWN = files().markdown
BUNDLE = files().bundle
SIGNED = files(key=KEY.private)
LINES = MARKDOWN.split("\n")
BY_KEY = replace(PLAIN, key=KEY.public)


def reason_for(text: str, demands: Demands = PLAIN, beside: str | None = None) -> Reason:
    with pytest.raises(Refused) as caught:
        verify(text, demands, beside)
    assert caught.value.exit_code == EXIT_CODES[caught.value.reason]
    return caught.value.reason


def test_reasons_have_exit_codes_of_their_own() -> None:
    assert len(set(EXIT_CODES.values())) == len(EXIT_CODES)
    assert not set(EXIT_CODES.values()) & {0, 1, 2, 3, 4, 5, 6, 130}


def test_markdown_is_accepted_and_its_verdicts_are_not_re_checked() -> None:
    (one,) = verify(MARKDOWN, PLAIN)
    assert (one.form, one.replayed, one.signed_by, one.claims.result) == ("Markdown", None, None, "FAILED")
    assert one.claims.commit == Commit(COMMIT)


@pytest.mark.parametrize(
    "around",
    [
        "{}",
        "Dear reviewer,\n\n{}\nIt works.\n",
        "{}\r\n".replace("\n", "\r\n"),
        "<details>\n\n{}\n\n</details>",
    ],
    ids=["alone", "in a letter", "with carriage returns", "folded"],
)
def test_evidence_is_found_in_any_text(around: str) -> None:
    text = around.replace("{}", MARKDOWN)
    assert len(verify(text, PLAIN)) == 1
    assert len(verify(text.replace("\n", "\r\n"), PLAIN)) == 1


def test_several_in_one_text_are_all_looked_at() -> None:
    assert len(verify(f"{MARKDOWN}\nand\n{MARKDOWN}", PLAIN)) == 2
    assert reason_for(f"{MARKDOWN}\nand\n{MARKDOWN.replace('AE-AUTH-2', 'AE-AUTH-3')}") == "edited"


@pytest.mark.parametrize("number", range(2, LINES.index("### What this does not prove") + 8))
def test_a_line_that_is_edited_is_found(number: int) -> None:
    edited = [*LINES[:number], LINES[number] + "!", *LINES[number + 1 :]]
    assert reason_for("\n".join(edited)) == "edited"


@pytest.mark.parametrize("number", range(2, 40))
def test_a_line_that_is_taken_out_is_found(number: int) -> None:
    assert reason_for("\n".join([*LINES[:number], *LINES[number + 1 :]])) == "edited"


@pytest.mark.parametrize("kept", [0.1, 0.5, 0.9])
def test_markdown_that_is_cut_is_found(kept: float) -> None:
    assert reason_for(MARKDOWN[: int(len(MARKDOWN) * kept)]) == "cut"


def test_markdown_without_its_beginning_is_cut() -> None:
    assert reason_for(MARKDOWN.replace(BEGIN, "")) == "cut"
    assert reason_for(f"{BEGIN}\n{MARKDOWN}") == "cut"


@pytest.mark.parametrize("text", ["", "All tests pass.", MARKDOWN.replace("sha256:", "sha512:"), "{}", '{"a": 1}'])
def test_what_has_no_seal_is_no_evidence(text: str) -> None:
    assert reason_for(text) == "unsealed"


@pytest.mark.parametrize("kept", [0.1, 0.5, 0.999])
def test_a_bundle_that_is_cut_is_found(kept: float) -> None:
    assert reason_for(BUNDLE[: int(len(BUNDLE) * kept)]) == "cut"


def test_a_key_that_is_there_twice_is_an_edit() -> None:
    twice = BUNDLE.replace('"result": "FAILED"', '"result": "FAILED", "result": "PASSED"')
    assert reason_for(twice) == "edited"


@pytest.mark.parametrize("outcome", ["interrupted", None])
def test_a_run_that_did_not_finish_is_incomplete(outcome: Outcome | None) -> None:
    unfinished = files(outcome=outcome)
    assert {reason_for(unfinished.markdown), reason_for(unfinished.bundle)} == {"incomplete"}


@pytest.mark.parametrize("text", [MARKDOWN, BUNDLE], ids=["Markdown", "bundle"])
def test_evidence_that_is_too_old_is_stale(text: str) -> None:
    late = replace(PLAIN, now=NOW + datetime.timedelta(days=2), max_age=age("24h"))
    assert reason_for(text, late) == "stale"


@pytest.mark.parametrize("text", [MARKDOWN, BUNDLE], ids=["Markdown", "bundle"])
def test_evidence_from_the_future_is_stale(text: str) -> None:
    assert reason_for(text, replace(PLAIN, now=NOW - datetime.timedelta(days=1))) == "stale"


@pytest.mark.parametrize("text", [MARKDOWN, BUNDLE], ids=["Markdown", "bundle"])
def test_evidence_of_another_commit_is_refused(text: str) -> None:
    assert reason_for(text, replace(PLAIN, commit="0" * 40)) == "wrong commit"


def test_a_commit_may_be_cut_short_but_not_to_nothing() -> None:
    assert verify(MARKDOWN, replace(PLAIN, commit=COMMIT[:7]))
    assert reason_for(MARKDOWN, replace(PLAIN, commit=COMMIT[:6])) == "wrong commit"


@pytest.mark.parametrize("commit", [None, Commit(COMMIT, changed=True)], ids=["unknown", "changed"])
def test_a_commit_is_not_that_of_files_that_are_unknown_or_changed(commit: Commit | None) -> None:
    text = files(replace(PROVENANCE, target=commit)).markdown
    assert reason_for(text, replace(PLAIN, commit=COMMIT)) == "wrong commit"


@pytest.mark.parametrize("text", [MARKDOWN, BUNDLE], ids=["Markdown", "bundle"])
def test_what_must_be_signed_and_is_not_is_refused(text: str) -> None:
    assert reason_for(text, BY_KEY) == "wrongly signed"


def test_markdown_is_accepted_by_the_key_that_signed_it_and_by_no_other() -> None:
    (one,) = verify(SIGNED.markdown, BY_KEY)
    assert one.signed_by is not None
    assert reason_for(SIGNED.markdown, replace(PLAIN, key=OTHER.public)) == "wrongly signed"


def test_a_signature_of_other_evidence_is_refused() -> None:
    signature = SIGNED.markdown.split(" ed25519:")[1].split(" -->")[0]
    other = files(replace(PROVENANCE, python="3.12.1"), KEY.private).markdown
    mine = other.split(" ed25519:")[1].split(" -->")[0]
    assert reason_for(other.replace(mine, signature), BY_KEY) == "wrongly signed"


def test_a_signature_that_is_not_asked_for_is_named_all_the_same() -> None:
    (one,) = verify(SIGNED.markdown, PLAIN)
    assert (one.signed_by, len(one.signatures)) == (None, 1)


def test_markdown_beside_another_bundle_is_refused() -> None:
    assert reason_for(MARKDOWN, beside=files(replace(PROVENANCE, python="3.12.1")).bundle) == "edited"


def test_markdown_that_says_something_else_than_its_bundle_is_refused_though_its_claims_are_the_same() -> None:
    told = found_in(MARKDOWN)[0].text
    better = told.replace("FAILED", "PASSED", 1)
    assert better != told
    assert reason_for(marked(better), beside=BUNDLE) == "edited"


def test_an_age_is_a_number_and_a_unit() -> None:
    assert age("999999999d") == datetime.timedelta(days=999_999_999)
    assert [age(text) for text in ("90s", "2m", "24h", "7d")] == [
        datetime.timedelta(seconds=90),
        datetime.timedelta(minutes=2),
        datetime.timedelta(days=1),
        datetime.timedelta(days=7),
    ]
    for text in ("", "7", "d", "-1d", "1 week", "9999999999d", "\u0663d"):
        with pytest.raises(UsageError, match="no age"):
            age(text)


def test_keys_are_read_from_their_files(tmp_path: Path) -> None:
    private, public = KEY.write(tmp_path)
    assert private_key(private).public_key() == public_key(public) == KEY.public


@pytest.mark.parametrize("read", [private_key, public_key])
def test_a_file_without_a_key_is_refused(read: Any, tmp_path: Path) -> None:
    (tmp_path / "no.pem").write_text("no key")
    for path in (tmp_path / "no.pem", tmp_path / "absent.pem"):
        with pytest.raises(UsageError, match=path.name):
            read(path)


def test_an_envelope_that_cannot_be_opened_is_refused() -> None:
    assert SIGNED.envelope is not None
    for change in ({"payload": "!"}, {"signatures": [1]}, {"payloadType": "text/plain"}):
        assert reason_for(json.dumps({**json.loads(SIGNED.envelope), **change})) == "edited"


CLAIMS = json.loads(re.findall(r"```json\n(.*)\n```", MARKDOWN)[-1])
STRANGE: list[Any] = [None, 5, "\x1b[31m", [], {}, True]


def said_of(text: str) -> str:
    """What is said of evidence that is refused; nothing of what is accepted."""
    try:
        verify(text, replace(PLAIN, commit=COMMIT, max_age=age("7d")))
    except Refused as refused:
        return refused.message
    return ""


@pytest.mark.parametrize("strange", STRANGE, ids=repr)
@pytest.mark.parametrize("path", list(leaves(CLAIMS)), ids=str)
def test_markdown_that_a_stranger_made_up_breaks_nothing(path: Any, strange: Any) -> None:
    told = changed(CLAIMS, path, lambda _: strange)
    text = found_in(MARKDOWN)[0].text.rsplit("```json", 1)[0] + f"```json\n{json.dumps(told)}\n```\n\n</details>"
    assert "\x1b" not in said_of(marked(text))


@pytest.mark.parametrize("strange", STRANGE, ids=repr)
def test_a_bundle_that_a_stranger_made_up_breaks_nothing(strange: Any) -> None:
    value = json.loads(BUNDLE)
    for path in leaves(value):
        with contextlib.suppress(Refused):
            read_bundle(json.dumps(sealed(changed(value, path, lambda _: strange))))
