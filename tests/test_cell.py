from __future__ import annotations

import json

import pytest

from harness.cell import WHOLE, Cell, Piece, Plan, Shard, Share
from harness.errors import UsageError


@pytest.mark.parametrize(("text", "shard"), [("2/5", Shard(2, 5)), ("1/1", WHOLE), ("10/10", Shard(10, 10))])
def test_shard_is_read(text: str, shard: Shard) -> None:
    assert Shard.parse(text) == shard
    assert str(shard) == text


@pytest.mark.parametrize(
    "text", ["", "2", "0/5", "6/5", "2/0", "-1/5", "2/5/6", "a/b", " 2/5", "2/5\n", "02/5", "٢/٥", "1/99999"]
)
def test_what_is_no_shard_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is no shard") as caught:
        Shard.parse(text)
    assert "2/5" in caught.value.hint


def test_cell_says_suite_target_and_shard() -> None:
    assert str(Cell("kilo_cli", "kilo 7.7.9")) == "kilo_cli of kilo 7.7.9"
    assert str(Cell("kilo_cli", "kilo 7.7.9", Shard(2, 5))) == "kilo_cli of kilo 7.7.9, shard 2/5"


def test_slug_of_a_cell_names_a_folder() -> None:
    assert Cell("kilo_cli", "kilo@7.7.9").slug == "kilo_cli-kilo@7.7.9"
    assert Cell("agent_endpoint", "../my target\n", Shard(2, 5)).slug == "agent_endpoint-..-my-target--2of5"


def test_share_says_what_it_is() -> None:
    piece = Piece(Shard(1, 2), "run", "seed", "2026-11-29T12:00:00Z", ("a",))
    assert str(Share("sha256:0")) == ""
    assert str(Share("sha256:0", Shard(2, 5))) == "shard 2/5"
    assert str(Share("sha256:0", pieces=(piece, piece))) == "merged of 2 shards"


def test_share_survives_json() -> None:
    plan = Plan(("a", "b"), ("AE-A-1",))
    piece = Piece(Shard(1, 2), "run", "seed", "2026-11-29T12:00:00Z", ("a",))
    for share in (Share("sha256:0"), Share("sha256:0", Shard(2, 5), plan), Share("sha256:0", pieces=(piece,))):
        assert Share.from_json(json.loads(json.dumps(share.to_json()))) == share
