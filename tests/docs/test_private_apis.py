"""The table of Spark's private classes against the imports in the connector's code."""

from __future__ import annotations

import re

from tests.docs.pages import ROOT, Page

TABLE = Page(name="CONTRIBUTING.md")
ROW = re.compile(r"^\| `(org\.apache\.spark\.[^`]+)` \| (.+) \|$", re.MULTILINE)
IMPORT = re.compile(r"^import (org\.apache\.spark(?:\.\w+)*)\.(\w+|\{[^}]*\})$", re.MULTILINE)
# Packages and classes that Spark documents for everybody, and our own package.
PUBLIC = re.compile(
    r"org\.apache\.spark\.(broadcast|sparkkinesis|sql\.(types|connector|sources|util)|rdd)\."
    r"|org\.apache\.spark\.Spark(Conf|Context|Exception|Throwable)$"
    r"|org\.apache\.spark\.(TaskContext|FutureAction)$"
    r"|org\.apache\.spark\.sql\.(SparkSession\w*|streaming\.StreamingQuery\w*(\._)?)$"
    r"|org\.apache\.spark\.sql\.DataFrame$"
)


def names(package: str, last: str) -> set[str]:
    """The full names of an import or of a row: `a.{B, C}` names two classes."""
    return {f"{package}.{name.strip()}" for name in last.strip("{}").split(",")}


def imported() -> set[str]:
    """Every class of Spark that is not public and that the connector imports."""
    code = (ROOT / "connector-scala" / "src" / "main").rglob("*.scala")
    texts = (file.read_text(encoding="utf-8") for file in code)
    found = (names(*match) for text in texts for match in IMPORT.findall(text))
    return {name for some in found for name in some if not PUBLIC.match(name)}


def test_the_table_has_exactly_the_private_classes_that_are_imported() -> None:
    rows = [row.replace(".{", ".|{") for row, _ in ROW.findall(TABLE.text)]
    pairs = [row.split(".|") if "|" in row else row.rsplit(".", 1) for row in rows]
    listed = {name for package, last in pairs for name in names(package, last)}
    assert listed == imported()
