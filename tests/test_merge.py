from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.cell import Plan, Shard, Share
from harness.engine import Engine
from harness.errors import UsageError
from harness.merge import find_results, merge
from harness.replay import replay
from harness.results import Results, read
from harness.run import Observer, Order, run
from harness.verdict import summarise
from tests.sample_results import exchange, finding, result, results, schema_errors, write
from tests.staging import KEY, answering, canned, serving, target_at

DIGEST = "sha256:" + 64 * "1"
PLAN = Plan(("a", "b", "c"), ("AE-A-1", "AE-A-2", "AE-A-3"))
CHECKS = (("a", "AE-A-1"), ("c", "AE-A-3"), ("b", "AE-A-2"))


def shard(number: int, **changes: Any) -> Results:
    """The results of shard `number` of 3, each of one check; the second fails with an exchange of its own."""
    check, requirement = CHECKS[number - 1]
    first = 1 + (number - 1) * 100
    failed = finding(first) if number == 2 else None
    made = result(check, (requirement,), "fail" if failed else "pass", failed)
    fields: dict[str, Any] = {
        "run": f"run {number}",
        "seed": f"seed {number}",
        "started": f"2026-11-29T12:00:0{number}Z",
        "share": Share(DIGEST, Shard(number, 3), PLAN),
        "exchanges": [exchange(first)],
        **changes,
    }
    return results([made], **fields)


Write = Callable[..., list[Path]]


@pytest.fixture
def written(tmp_path: Path) -> Write:
    """Write results, each in a folder of its own; their paths."""

    def write_all(*parts: Results) -> list[Path]:
        paths = []
        for number, part in enumerate(parts):
            folder = tmp_path / "shards" / str(number)
            folder.mkdir(parents=True)
            paths.append(write(part, folder / "results.jsonl"))
        return paths

    return write_all


def refusal(paths: list[Path], out: Path) -> str:
    with pytest.raises(UsageError) as caught:
        merge(paths, out)
    assert caught.value.hint
    assert not out.exists()
    return caught.value.message


def test_shards_are_merged_in_the_order_of_the_plan(written: Write, tmp_path: Path) -> None:
    merged = merge(written(shard(3), shard(1), shard(2)), tmp_path / "out")
    assert [planned.check for planned in merged.header.planned] == ["a", "b", "c"]
    assert [requirement.id for requirement in merged.header.requirements] == ["AE-A-1", "AE-A-2", "AE-A-3"]
    assert {check.check: check.verdict for check in merged.checks} == {"a": "pass", "b": "pass", "c": "fail"}


def test_merged_results_are_those_of_a_finished_run(written: Write, tmp_path: Path) -> None:
    merged = merge(written(shard(1), shard(2), shard(3)), tmp_path / "out")
    assert merged == read(tmp_path / "out" / "results.jsonl")
    assert merged.finished
    assert summarise(merged).exit_code == 1
    assert merged.header.started == "2026-11-29T12:00:01Z"
    assert merged.footer is not None
    assert merged.footer.ended == "2026-11-29T12:00:09Z"


def test_merged_file_is_of_its_schema(written: Write, tmp_path: Path) -> None:
    merge(written(shard(1), shard(2), shard(3)), tmp_path / "out")
    lines = (tmp_path / "out" / "results.jsonl").read_text(encoding="utf-8").splitlines()
    assert [schema_errors("results.schema.json", json.loads(line)) for line in lines] == [[]] * len(lines)


def test_what_the_shards_recorded_is_kept(written: Write, tmp_path: Path) -> None:
    parts = [shard(1), shard(2), shard(3)]
    merged = merge(written(*parts), tmp_path / "out")
    assert merged.exchanges == {number: entry for part in parts for number, entry in part.exchanges.items()}


def test_each_check_keeps_the_seed_of_its_shard(written: Write, tmp_path: Path) -> None:
    header = merge(written(shard(1), shard(2), shard(3)), tmp_path / "out").header
    assert [header.seed_of(check) for check in ("a", "c", "b")] == ["seed 1", "seed 2", "seed 3"]
    assert header.seed not in {"seed 1", "seed 2", "seed 3"}


def test_same_shards_are_merged_to_the_same_bytes(written: Write, tmp_path: Path) -> None:
    paths = written(shard(1), shard(2), shard(3))
    merge(paths, tmp_path / "one")
    merge(paths[::-1], tmp_path / "two")
    assert (tmp_path / "one/results.jsonl").read_bytes() == (tmp_path / "two/results.jsonl").read_bytes()


def test_run_that_was_not_split_is_merged_alone(written: Write, tmp_path: Path) -> None:
    alone = merge(written(results([result("a", ("AE-A-1",), "pass")])), tmp_path / "out")
    assert [planned.check for planned in alone.header.planned] == ["a"]


def test_missing_shards_are_named(written: Write, tmp_path: Path) -> None:
    told = refusal(written(shard(2)), tmp_path / "out")
    assert "agent_endpoint of sample, shard 1/3; agent_endpoint of sample, shard 3/3" in told


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"outcome": None}, "has no footer"),
        ({"outcome": "interrupted"}, "ends with interrupted"),
        ({"outcome": "not-ready", "error": "no\nport"}, "ends with not-ready: no\\nport"),
        ({"outcome": "error", "error": "it broke"}, "ends with error: it broke"),
    ],
)
def test_shard_that_did_not_finish_is_named(written: Write, tmp_path: Path, change: dict[str, Any], words: str) -> None:
    told = refusal(written(shard(1), shard(2, **change), shard(3)), tmp_path / "out")
    assert "the run of agent_endpoint of sample, shard 2/3 did not finish" in told
    assert words in told


def test_shard_that_lacks_a_result_is_named(written: Write, tmp_path: Path) -> None:
    lacking = replace(shard(2), checks=())
    assert "has 0 results of 1 checks" in refusal(written(shard(1), lacking, shard(3)), tmp_path / "out")


def test_doubled_shard_is_named_with_both_files(written: Write, tmp_path: Path) -> None:
    paths = written(shard(1), shard(2), shard(3), shard(2))
    told = refusal(paths, tmp_path / "out")
    assert "shard 2/3" in told
    assert str(paths[1]) in told
    assert str(paths[3]) in told


def test_file_that_is_named_twice_is_doubled(written: Write, tmp_path: Path) -> None:
    paths = written(shard(1), shard(2), shard(3))
    assert "doubled results" in refusal([*paths, paths[0]], tmp_path / "out")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"harness": "0.2.0"}, "harness"),
        ({"suite": "kilo_cli"}, "suite"),
        ({"strict": True}, "strict"),
        ({"require_all": True}, "require_all"),
        ({"parts": ()}, "parts"),
        ({"target": replace(shard(1).header.target, deadline=1.0)}, "target"),
        ({"share": Share("sha256:" + 64 * "2", Shard(2, 3), PLAN)}, "the target's description"),
        ({"share": Share(DIGEST, Shard(2, 4), PLAN)}, "the number of shards"),
        ({"share": Share(DIGEST, Shard(2, 3), Plan(PLAN.checks[:2], PLAN.requirements[:2]))}, "the checks that were"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_mixed_results_are_refused_with_what_differs(
    written: Write, tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    told = refusal(written(shard(1), shard(2, **change), shard(3)), tmp_path / "out")
    assert told.startswith("mixed results: ")
    assert words in told


def test_merged_results_are_not_merged_again(written: Write, tmp_path: Path) -> None:
    merge(written(shard(1), shard(2), shard(3)), tmp_path / "out")
    assert "was merged already" in refusal([tmp_path / "out" / "results.jsonl"], tmp_path / "again")


@pytest.mark.parametrize(
    "wrong",
    [
        results([result("b", ("AE-A-2",), "pass")], share=Share(DIGEST, Shard(2, 3), PLAN)),
        results([result("c", ("AE-A-9",), "pass")], share=Share(DIGEST, Shard(2, 3), PLAN)),
        shard(2, exchanges=[exchange(1)]),
    ],
    ids=["a check of another shard", "a requirement that is not planned", "numbers of another shard"],
)
def test_shards_that_are_not_split_as_planned_are_refused(written: Write, tmp_path: Path, wrong: Results) -> None:
    assert "not those of one run" in refusal(written(shard(1), wrong, shard(3)), tmp_path / "out")


def test_results_are_found_in_folders_but_not_where_they_go(tmp_path: Path, written: Write) -> None:
    paths = written(shard(1), shard(2))
    out = tmp_path / "shards" / "merged"
    out.mkdir()
    write(shard(3), out / "results.jsonl")
    assert find_results([tmp_path / "shards"], out) == tuple(paths)
    assert find_results(paths, out) == tuple(paths)


def test_folder_without_results_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no results\.jsonl is in this folder"):
        find_results([tmp_path], tmp_path / "out")


def test_folder_that_cannot_be_written_is_told(written: Write, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="cannot be written"):
        merge(written(shard(1), shard(2), shard(3)), tmp_path / "file" / "below")


def test_shards_of_a_real_run_are_merged_and_confirmed_by_replay(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CANNED_KEY", KEY)
    folders = [tmp_path / "1", tmp_path / "2"]
    with serving(engine, answering(canned)) as url:
        for number, folder in enumerate(folders, 1):
            order = Order(target_at(url), expression="header and models or REQ-1", out=folder, shard=Shard(number, 2))
            results, error = run(order, Observer())
            assert error is None
            assert 0 < len(results.checks) < len(results.header.share.plan.checks if results.header.share.plan else ())
    merged = merge(find_results(folders, tmp_path / "out"), tmp_path / "out")
    assert all(check.agrees for check in replay(merged))
    assert len({merged.header.seed_of(planned.check) for planned in merged.header.planned}) == 2
