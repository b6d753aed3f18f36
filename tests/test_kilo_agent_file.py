"""Target files of agents that wrap the Kilo CLI."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness.builtin import find_target
from harness.errors import UsageError
from harness.kilo_agent_target import REFERENCE
from harness.kilo_behind import KiloPart, describe
from harness.parts import part_behind
from harness.target_file import load

DOCS = Path(__file__).parents[1] / "docs" / "targets.md"
HEAD = 'kind = "kilo-agent"\nname = "n"\n'
START = '[start]\ncommand = ["run", "{config}"]\n'


def written(folder: Path, text: str) -> Path:
    path = folder / "agent.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_examples_of_the_documentation_are_targets(tmp_path: Path) -> None:
    examples = re.findall(r"```toml\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    server, command = (load(written(tmp_path, text)) for text in examples if 'kind = "kilo-agent"' in text)
    assert (server.kilo_behind, server.agents, server.keys, server.asked) == ("stand-in", (), (), "responses")
    assert (command.kind, command.asked, command.in_environment) == ("kilo-agent", "argument", True)


def test_a_version_of_the_cli_can_be_named(tmp_path: Path) -> None:
    assert load(written(tmp_path, f'{HEAD}kilo = "7.7.9"\n{START}')).kilo_behind == "7.7.9"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f'{HEAD}kilo = "newest"\n{START}', "kilo"),
        (f'{HEAD}[start]\ncommand = ["run"]\n', "{config}"),
        (f'{HEAD}[start]\ncommand = ["{{config}}", "{{opencode_url}}"]\n', "{opencode_url}"),
        (f'{HEAD}url = "http://h"\n', "url"),
        (f'{HEAD}{START}[[agents]]\nid = "a"\n', "agents"),
        (f'{HEAD}{START}[policies]\nhistory = "full"\n', "policies"),
        ('kind = "agent-endpoint"\nname = "n"\nurl = "http://h"\nkilo = "7.7.9"\n', "kilo"),
        ('kind = "agent-endpoint"\nname = "n"\nurl = "http://h"\n', "keys is missing"),
        ('kind = "agent-endpoint"\nname = "n"\n[start]\ncommand = ["{config}"]\n', "{config}"),
    ],
)
def test_what_belongs_to_another_kind_is_refused(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(UsageError, match=re.escape(told)):
        load(written(tmp_path, text))


def test_the_stand_in_is_behind_the_reference() -> None:
    part = part_behind(find_target(REFERENCE), "stand-in", lambda _step, _detail: None)
    assert part == KiloPart()
    assert describe(KiloPart()) == {"name": "kilo stand-in", "version": "7.7.9"}


def test_a_real_cli_is_told_with_its_digest(tmp_path: Path) -> None:
    binary = tmp_path / "kilo"
    binary.write_bytes(b"x")
    told = describe(KiloPart("7.7.9", binary))
    assert (told["name"], told["version"], len(told["sha256"])) == ("kilo", "7.7.9", 64)


def test_the_reference_over_a_real_cli_has_more_time() -> None:
    over = find_target("reference-kilo@7.7.9")
    assert (over.kilo_behind, over.kind) == ("7.7.9", "kilo-agent")
    assert over.deadline > find_target(REFERENCE).deadline
