from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from harness.builtin import find_target
from harness.target import Target
from harness.target_digest import digest_of
from harness.target_file import load
from harness.target_keys import FromCommand, FromEnvironment, Key
from tests import running
from tests.sample_results import waiver


def _keyed(target: Target, *sources: FromEnvironment | FromCommand) -> Target:
    return replace(target, keys=tuple(Key("main", "valid", (), source) for source in sources))


def test_digest_does_not_depend_on_where_the_file_lies(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    one, two = (load(Path(running.canned(tmp_path / name))) for name in ("one", "two"))
    assert digest_of(one) == digest_of(two)


def test_digest_does_not_depend_on_where_in_the_file_a_waiver_is() -> None:
    target = replace(find_target("reference"), waivers=(waiver("AE-AUTH-1"),))
    moved = replace(target, waivers=(replace(waiver("AE-AUTH-1"), line=7),))
    assert digest_of(moved) == digest_of(target)


@pytest.mark.parametrize(
    "change", [{"name": "x"}, {"url": "http://127.0.0.1:1"}, {"deadline": 1.0}, {"capabilities": ("mint",)}]
)
def test_digest_differs_as_soon_as_anything_does(change: dict[str, object]) -> None:
    target = find_target("reference")
    assert digest_of(replace(target, **change)) != digest_of(target)  # type: ignore[arg-type]


def test_digest_tells_where_a_key_comes_from() -> None:
    target = find_target("reference")
    sources = (FromEnvironment("A"), FromEnvironment("B"), FromCommand(("A",)))
    assert len({digest_of(_keyed(target, source)) for source in sources}) == 3


def test_digest_tells_a_version_of_kilo_from_the_stand_in_of_it() -> None:
    names = ("kilo@7.7.9", "kilo-stand-in:7.7.9", "kilo-stand-in:7.7.7")
    assert len({digest_of(find_target(name, kind="kilo-cli")) for name in names}) == 3


def test_digest_is_that_of_sha_256() -> None:
    assert digest_of(find_target("reference")).startswith("sha256:")
    assert len(digest_of(find_target("reference"))) == 7 + 64
