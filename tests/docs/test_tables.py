"""The tables of the reference against the lists in the code."""

from __future__ import annotations

import json
import re

import pytest

from spark_kinesis import columns, schema
from tests.docs.pages import ROOT, Page

OPTIONS = Page(name="docs/reference/options.md")
COLUMNS = Page(name="docs/reference/columns.md")
GOLDEN: dict[str, list[dict[str, str]]] = json.loads(
    (ROOT / "tests" / "golden" / "options.json").read_text(encoding="utf-8")
)


def rows(page: Page, heading: str) -> list[list[str]]:
    """The cells of the first table below a heading, without the table's own head."""
    section = re.split(rf"^##+ {re.escape(heading)}$", page.text, flags=re.MULTILINE)[1]
    lines = [line for line in section.split("\n#")[0].splitlines() if line.startswith("|")]
    end = next((n for n, line in enumerate(lines[2:], 2) if "|---" in line), len(lines) + 1) - 1
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:end]]


@pytest.mark.parametrize("group", ["connection", "source", "sink"])
def test_the_options_and_their_defaults(group: str) -> None:
    documented = {row[0]: row[2] for row in rows(OPTIONS, group.capitalize())}
    assert list(documented) == [f"`{option['name']}`" for option in GOLDEN[group]]
    for option in GOLDEN[group]:
        if "default" in option:
            assert documented[f"`{option['name']}`"] == f"`{option['default']}`"


def test_the_columns_of_the_source() -> None:
    documented = [row[:2] for row in rows(COLUMNS, "Columns that the source returns")]
    types = {"bigint": "long"}
    fields = [(field.name, field.dataType.simpleString()) for field in schema.fields]
    assert documented == [[f"`{name}`", types.get(kind, kind)] for name, kind in fields]


def test_the_metadata_columns() -> None:
    documented = [row[0] for row in rows(COLUMNS, "Metadata columns")]
    names = (columns.EXPLICIT_HASH_KEY, columns.ENCRYPTION_TYPE, columns.STREAM_ARN)
    assert documented == [f"`{name}`" for name in (*names, columns.WRITER_ID)]


def test_the_expression_that_orders_changes() -> None:
    assert COLUMNS.fences("sql") == [f"{columns.CHANGE_ORDER}\n"]


def test_the_tests_that_the_comparison_names_exist() -> None:
    named = set(re.findall(r"`(test_\w+)`", Page(name="docs/explanation/comparison.md").text))
    files = (ROOT / "tests" / "e2e").rglob("test_*.py")
    defined = {
        name
        for file in files
        for name in re.findall(r"^def (test_\w+)", file.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert named
    assert named - defined == set()
