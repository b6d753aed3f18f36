from __future__ import annotations

from harness.matrix.plan import Comparison, Matrix


def arguments(comparison: Comparison) -> list[str]:
    return [" ".join(task.arguments) for task in comparison.tasks]


def test_version_of_a_binary_is_judged_itself() -> None:
    kilo = Comparison("kilo", "kilo_cli", ("7.7.7", "7.7.9"))
    assert arguments(kilo) == [f"run --suite kilo_cli --target kilo@{version}" for version in ("7.7.7", "7.7.9")]
    opencode = Comparison("opencode", "opencode_server", ("1.18.33",))
    assert arguments(opencode) == ["run --suite opencode_server --target opencode@1.18.33"]


def test_version_is_judged_by_what_stands_before_it() -> None:
    agent = Comparison("kilo", "kilo_agent", ("7.7.9",))
    assert arguments(agent) == ["run --suite kilo_agent --target reference-kilo@7.7.9"]
    endpoint = Comparison("opencode", "agent_endpoint", ("1.18.33",))
    assert arguments(endpoint) == ["run --suite agent_endpoint --target reference --opencode 1.18.33"]


def test_options_are_those_of_a_run() -> None:
    comparison = Comparison(
        "opencode", "agent_endpoint", ("1.18.33",), "own.toml", "AUTH", strict=True, require_all=True
    )
    assert arguments(comparison) == [
        "run --suite agent_endpoint --target own.toml --opencode 1.18.33 -k AUTH --strict --require-all"
    ]


def test_each_cell_fetches_its_binary() -> None:
    assert [task.binary for task in Comparison("kilo", "kilo_cli", ("1.0.0", "2.0.0")).tasks] == [
        "kilo@1.0.0",
        "kilo@2.0.0",
    ]


def test_cells_have_folders_of_their_own() -> None:
    versions = ("1.18.14", "1.18.33")
    matrix = Matrix(
        "m",
        (
            Comparison("opencode", "opencode_server", versions),
            Comparison("opencode", "agent_endpoint", versions),
            Comparison("opencode", "agent_endpoint", versions, "own.toml"),
            Comparison("kilo", "kilo_cli", ("7.7.9",)),
            Comparison("kilo", "kilo_agent", ("7.7.9",)),
        ),
    )
    folders = [task.folder for task in matrix.tasks]
    assert len(set(folders)) == len(folders) == 8
    assert all("/" not in folder for folder in folders)


def test_cell_is_told_with_what_it_stands_before() -> None:
    (task,) = Comparison("opencode", "agent_endpoint", ("1.18.33",)).tasks
    assert str(task) == "agent_endpoint of reference before opencode@1.18.33"
