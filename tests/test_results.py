from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.errors import UsageError
from harness.exchange import Chunk
from harness.redaction import Redactor
from harness.results import Act, Results, Writer, read
from tests.sample_results import HOSTILE, exchange, finding, records, result, results, schema_errors, write


def _sample(text: str = "plain", chunk: bytes = b"x") -> Results:
    made = results(
        [result("c1", ("AE-AUTH-1",), "fail", finding(1, came=text)), result("c2", ("AE-AUTH-2",), "pass")],
        exchanges=[exchange(1), exchange(2, chunks=[chunk, b"\xff\xfe"])],
        strays=(2,),
    )
    acts = (Act("c1", "client", text, {"body": text}, [1, None, 0.5]),)
    return Results(made.header, made.checks, acts, made.exchanges, made.strays, made.footer)


def _lines(*changed: Any) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in changed)


def test_output_of_a_check_survives_the_file(tmp_path: Path) -> None:
    loud = replace(result("c", ("AE-A-1",), "fail", finding()), output="KeyError: 'x'\n")
    assert read(write(results([loud]), tmp_path / "r")).checks == (loud,)
    assert schema_errors("results.schema.json", loud.to_json()) == []


def test_results_survive_the_file(tmp_path: Path) -> None:
    assert read(write(_sample(), tmp_path / "r")) == _sample()


@pytest.mark.parametrize("text", [HOSTILE, "\ud83d alone", "\\ud800 as text", "\x85\x0c\x1c", "x" * 2_000_000])
def test_hostile_text_survives_the_file(tmp_path: Path, text: str) -> None:
    assert read(write(_sample(text), tmp_path / "r")).acts[0].label == text


def test_bytes_survive_the_file(tmp_path: Path) -> None:
    chunk = bytes(range(256))
    assert read(write(_sample(chunk=chunk), tmp_path / "r")).exchanges[2].chunks[0] == Chunk(0.0, chunk)


def test_record_is_one_line_of_utf_8(tmp_path: Path) -> None:
    written = write(_sample(HOSTILE), tmp_path / "r").read_text(encoding="utf-8")
    assert written.count("\n") == len(records(_sample()))


def test_secret_is_replaced_when_it_is_written(tmp_path: Path) -> None:
    written = write(_sample("a hush b"), tmp_path / "r", Redactor({"main": "hush"})).read_text(encoding="utf-8")
    assert "hush" not in written.replace('"label":"a hush b"', "")  # labels are words of checks


def test_record_is_in_the_file_as_soon_as_it_is_written(tmp_path: Path) -> None:
    with (tmp_path / "r").open("w", encoding="utf-8") as stream:
        Writer(stream, Redactor()).write({"record": "x"})
        assert (tmp_path / "r").read_text(encoding="utf-8") == '{"record":"x"}\n'


def test_written_order_is_that_of_the_calls() -> None:
    stream = io.StringIO()
    writer = Writer(stream, Redactor())
    writer.write({"record": "a"})
    writer.write({"record": "b"})
    assert stream.getvalue() == '{"record":"a"}\n{"record":"b"}\n'


def test_every_record_fits_the_schema() -> None:
    assert [schema_errors("results.schema.json", record) for record in records(_sample(chunk=b"\xff"))] == [[]] * 7


@pytest.mark.parametrize("position", range(7))
def test_record_with_an_unknown_key_breaks_the_schema(position: int) -> None:
    assert schema_errors("results.schema.json", {**records(_sample())[position], "more": 1})


@pytest.mark.parametrize("position", range(7))
def test_record_that_lacks_a_key_breaks_the_schema(position: int) -> None:
    record = records(_sample())[position]
    for key in record:
        assert schema_errors("results.schema.json", {k: v for k, v in record.items() if k != key}), key


def test_file_without_a_footer_did_not_finish(tmp_path: Path) -> None:
    path = tmp_path / "r"
    path.write_bytes(_lines(*records(_sample())[:-1]))
    assert not read(path).finished


def test_file_with_a_footer_finished(tmp_path: Path) -> None:
    assert read(write(_sample(), tmp_path / "r")).finished


def test_footer_with_fewer_run_than_planned_did_not_finish(tmp_path: Path) -> None:
    *others, footer = records(_sample())
    path = tmp_path / "r"
    path.write_bytes(_lines(*others, {**footer, "run": 1}))
    assert not read(path).finished


def test_file_torn_at_any_byte_of_its_last_line_is_read_without_it(tmp_path: Path) -> None:
    path = tmp_path / "r"
    *others, last = write(_sample(), tmp_path / "whole").read_bytes().splitlines(keepends=True)
    for cut in range(len(last)):
        path.write_bytes(b"".join(others) + last[:cut])
        assert read(path).footer is None


def test_file_torn_inside_a_character_is_read_without_its_last_line(tmp_path: Path) -> None:
    path = tmp_path / "r"
    path.write_bytes(_lines(*records(_sample())) + b'{"record":"check","check":"\xc3')
    assert read(path).finished


def _not_results() -> dict[str, bytes]:
    header, *middle, footer = records(_sample())
    check = middle[-1]
    return {
        "empty": b"",
        "text": b"hello\n",
        "not UTF-8": b"\xff\n",
        "a list": b"[]\n",
        "null": b"null\n",
        "deep": b"[" * 100_000 + b"\n",
        "no header": _lines(footer),
        "two headers": _lines(header, header),
        "another version": _lines({**header, "schema": 99}),
        "header without a target": _lines({key: value for key, value in header.items() if key != "target"}),
        "target of another kind": _lines({**header, "target": {**header["target"], "kind": "x"}}),
        "requirement of an unknown level": _lines({**header, "requirements": [{"id": "AE-A-1", "level": "WILL"}]}),
        "footer in the middle": _lines(header, footer, check),
        "two footers": _lines(header, footer, footer),
        "unknown record": _lines(header, {"record": "x"}),
        "record of a strange type": _lines(header, {"record": []}),
        "no record": _lines(header, {}),
        "a number for a record": _lines(header, 1),
        "torn in the middle": _lines(header)[:-5] + b"\n" + _lines(footer),
        "unknown verdict": _lines(header, {**check, "verdict": "passed"}),
        "unknown outcome": _lines(header, {**footer, "outcome": "done"}),
        "check without a verdict": _lines(header, {key: value for key, value in check.items() if key != "verdict"}),
        "finding of a strange type": _lines(header, {**check, "finding": [1]}),
        "body of a strange type": _lines(header, {**middle[0], "chunks": [[0, 5]]}),
        "bad base64": _lines(header, {**middle[0], "chunks": [[0, {"base64": "x"}]]}),
        "two exchanges of one number": _lines(header, middle[0], middle[0]),
    }


@pytest.mark.parametrize("name", _not_results())
def test_what_is_no_results_file_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / "r"
    path.write_bytes(_not_results()[name])
    with pytest.raises(UsageError):
        read(path)


def test_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read(tmp_path / "absent")
