"""The two rooms of the package: the API, and the tools, which use the API."""

from __future__ import annotations

import ast
from pathlib import Path

import spark_kinesis
from spark_kinesis.tools.cli.commands import COMMANDS

ROOT = Path(spark_kinesis.__file__).parent
README = Path(__file__).parents[2] / "README.md"
# Beside themselves: the entry point of the command.
MAY_USE_TOOLS = {"__main__.py", "tools"}

TOOLS = "spark_kinesis.tools"
COMMON = {"changes", "cli", "facts"}
MAY_USE: dict[str, set[str]] = {
    "facts": set(),
    "cli": {"facts"},
    "changes": {"cli", "facts"},
    "demo": {*COMMON, "generating"},
}


def imported(file: Path) -> set[str]:
    """The modules that a file imports, with their whole names."""
    found: set[str] = set()
    place = ("spark_kinesis", *file.relative_to(ROOT).parts[:-1])
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {it.name for it in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = place[: len(place) - node.level + 1] if node.level else ()
            found.add(".".join([*above, *([node.module] if node.module else [])]))
    return found


def test_the_api_uses_no_tool() -> None:
    users = {
        file.relative_to(ROOT).parts[0]
        for file in ROOT.rglob("*.py")
        if any(it.startswith(TOOLS) for it in imported(file))
    }
    assert users <= MAY_USE_TOOLS
    assert "tools" in users


def test_a_module_is_private_unless_users_import_it() -> None:
    public = {"columns", "local", "monitoring", "payloads", "pytest_plugin", "tools"}
    modules = {it.parent if it.name == "__init__.py" else it for it in ROOT.rglob("*.py")} - {ROOT}
    top = {it.stem for it in modules if it.parent == ROOT and not it.name.startswith("_")}
    assert top == public
    inner = {it for it in modules if it.parent.name in {"local", "monitoring"}}
    assert [it for it in inner if not it.name.startswith("_") and it.parent.parent == ROOT] == []


def test_the_tools_use_each_other_in_one_direction() -> None:
    tools, found = ROOT / "tools", set()
    for file in tools.rglob("*.py"):
        user = file.relative_to(tools).parts[0].removesuffix(".py")
        if user != "__init__":
            used = {it.split(".")[2] for it in imported(file) if it.startswith(f"{TOOLS}.")}
            found |= {(user, it) for it in used - {user} - MAY_USE.get(user, COMMON)}
    assert not found


def test_the_readme_lists_each_command() -> None:
    text = README.read_text(encoding="utf-8")
    assert [name for name in COMMANDS if f"| `spark-kinesis {name}" not in text] == []
