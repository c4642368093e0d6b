"""The requirements: complete, and no newer than what the tests run with."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib.metadata import packages_distributions, version
from pathlib import Path

import pytest
from packaging.requirements import Requirement

FOLDER = Path(__file__).resolve().parents[1]
PACKAGE = FOLDER / "log_processing"
JOB, TOOLS = "requirements.txt", "requirements-tools.txt"
# Run only on a developer's machine, with the tools of `make setup`.
LOCAL = ("demo", "producer.py")
# Come with others: botocore with boto3, werkzeug with Flask, py4j with pyspark.
PARTS = {"botocore": "boto3", "werkzeug": "flask", "py4j": "pyspark"}
NOT_LISTED = {"pyspark", "spark-kinesis"}  # as EMR and the wheel provide them


def requirements(name: str) -> dict[str, Requirement]:
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    found = [Requirement(line.split(" #")[0]) for line in lines if line[:1] not in ("", "#")]
    return {it.name.lower(): it for it in found}


def imported(*folders: str) -> set[str]:
    """The distributions that the code of some folders imports directly."""
    names: set[str] = set()
    for folder in folders:
        for file in (PACKAGE / folder).rglob("*.py"):
            if file.relative_to(PACKAGE).parts[0] in LOCAL:
                continue
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Import):
                    names.update(it.name.split(".")[0] for it in node.names)
                elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                    names.add(node.module.split(".")[0])
    known = packages_distributions()
    found = {known[it][0].lower() for it in names - {"log_processing"} if it in known}
    return {PARTS.get(it, it) for it in found}


def test_queries_and_dashboard_list_what_they_import() -> None:
    assert imported("query", "dashboard", "delivery") == set(requirements(TOOLS))


def test_the_job_lists_what_it_imports() -> None:
    others = set(requirements(TOOLS)) - set(requirements(JOB))
    asked = imported(".") - others - NOT_LISTED
    # Spark itself imports pandas.
    assert asked == set(requirements(JOB)) - {"pandas"}


def test_queries_and_dashboard_run_without_spark() -> None:
    code = "import sys; sys.modules.update(dict.fromkeys(['pyspark', 'pyarrow', 'spark_kinesis']))"
    code += "; import log_processing.query.command_line, log_processing.dashboard.command_line"
    subprocess.run([sys.executable, "-c", code], cwd=FOLDER, check=True)


@pytest.mark.parametrize("file", [JOB, TOOLS, "requirements-dev.txt"])
def test_the_tests_run_with_versions_that_are_allowed(file: str) -> None:
    for name, it in requirements(file).items():
        assert version(name) in it.specifier, it


def test_the_readme_installs_them() -> None:
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert f"pip install -r {TOOLS}\n" in page
    assert f"-r {JOB} " in page
