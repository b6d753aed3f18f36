"""The snippets of the documentation: commands are such as turnproof takes, target files are valid, Python compiles."""

from __future__ import annotations

import re
import shlex
import subprocess
import tomllib
from pathlib import Path

import click
import pytest

from harness.cli import main
from harness.target_rules import rule_problems
from harness.target_schema import target_problems
from tests.docs.pages import PAGES, ROOT, Block, blocks

BLOCKS = [block for page in PAGES for block in blocks(page)]
SHELL = [block for block in BLOCKS if block.language in ("console", "sh", "bash")]


def commands(block: Block) -> list[str]:
    """The commands of a block: in a transcript the lines after a `$`, else every line."""
    lines = block.text.replace("\\\n", " ").splitlines()
    if block.language == "console":
        lines = [line[2:] for line in lines if line.startswith("$ ")]
    return [line for line in lines if line.strip() and not line.lstrip().startswith("#")]


def of_turnproof(line: str) -> list[str] | None:
    """The arguments of a turnproof command; None for another command."""
    words = shlex.split(line, comments=True)
    while words and re.fullmatch(r"[A-Z_]+=\S*", words[0]):
        words.pop(0)
    return words[1:] if words[:1] == ["turnproof"] else None


def wrong_with(arguments: list[str]) -> str:
    """What is wrong with the arguments of turnproof, in words; nothing is run."""
    assert isinstance(main, click.Group)
    name, *rest = arguments
    if name not in main.commands:
        return f"no command {name}"
    try:
        main.commands[name].make_context(name, rest, click.Context(main, **main.context_settings))
    except click.ClickException as error:
        return error.format_message()
    except click.exceptions.Exit:
        return ""
    return ""


@pytest.mark.parametrize("block", SHELL, ids=str)
def test_commands_are_such_as_turnproof_takes(block: Block) -> None:
    told = {line: wrong_with(arguments) for line in commands(block) if (arguments := of_turnproof(line)) is not None}
    assert {line: wrong for line, wrong in told.items() if wrong} == {}


@pytest.mark.parametrize("block", SHELL, ids=str)
def test_shell_takes_the_commands(block: Block) -> None:
    script = "\n".join(commands(block))
    parsed = subprocess.run(["sh", "-n"], input=script, capture_output=True, text=True, check=False)
    assert (parsed.returncode, parsed.stderr) == (0, "")


@pytest.mark.parametrize("block", [block for block in SHELL if "make " in block.text], ids=str)
def test_make_has_the_targets(block: Block) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = [shlex.split(line, comments=True)[1] for line in commands(block) if line.startswith("make ")]
    assert [name for name in named if not re.search(rf"^{re.escape(name)}:", makefile, re.MULTILINE)] == []


@pytest.mark.parametrize("block", [block for block in SHELL if "python -m" in block.text], ids=str)
def test_modules_are_there(block: Block) -> None:
    modules = re.findall(r"python -m (harness[\w.]*|bench[\w.]*)", "\n".join(commands(block)))
    paths = [Path(ROOT, *module.split(".")) for module in modules]
    assert [path for path in paths if not (path.with_suffix(".py").exists() or (path / "__main__.py").exists())] == []


@pytest.mark.parametrize("block", [block for block in BLOCKS if block.language == "toml"], ids=str)
def test_toml_is_valid_and_a_whole_target_file_has_no_problem(block: Block) -> None:
    data = tomllib.loads(block.text)
    if "kind" in data:
        assert {str(problem) for problem in target_problems(data) | rule_problems(data)} == set()


@pytest.mark.parametrize("block", [block for block in BLOCKS if block.language == "python"], ids=str)
def test_python_compiles(block: Block) -> None:
    compile(block.text, str(block), "exec")
