"""Compares the table of invariants in docs/architecture.md with the reports of a whole test run.

The second column names suites, such as `BatchPlannerSuite`, and Python files, such as
`sink/test_order.py`. `(CI)` behind a name means that `make test` does not run it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from xml.etree import ElementTree as ET

PAGE = Path(__file__).resolve().parents[1] / "docs" / "architecture.md"
NAME = re.compile(r"`([\w/]+?)(?:\.py)?`( \(CI\))?")


def section(page: str) -> str:
    """The part of the page with the table."""
    return page.partition("\n## Invariants\n")[2].partition("\n## ")[0]


def named(page: str) -> Iterator[tuple[str, bool]]:
    """The tests that the table names, and whether only CI runs them."""
    for row in re.findall(r"^\| .* \| (.*) \|$", section(page), re.MULTILINE):
        for name, only_in_ci in NAME.findall(row):
            yield name.replace("/", "."), bool(only_in_ci)


def unproven(reports: Iterable[Path], is_ci: bool) -> list[str]:
    """The named tests of which none passed, each in a sentence.

    A test that failed and a report that cannot be read count as failures already.
    """
    passed = {name for report in reports for name in passed_in(report)}
    table = named(PAGE.read_text(encoding="utf-8"))
    asked = sorted({name for name, only_in_ci in table if is_ci or not only_in_ci})
    return [
        f"docs/architecture.md names {name}, and none of its tests passed"
        for name in asked
        if not any(f".{name}." in it for it in passed)
    ]


def passed_in(report: Path) -> Iterator[str]:
    """The classes and modules of a report with a test that passed, between dots."""
    with suppress(ET.ParseError, OSError):
        for case in ET.parse(report).getroot().iter("testcase"):
            if all(case.find(end) is None for end in ("failure", "error", "skipped")):
                yield f".{case.get('classname')}."
