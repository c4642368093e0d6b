"""The check that the tests which docs/architecture.md names ran and passed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests import invariants
from tests.invariants import PAGE, named, section, unproven

ROOT = PAGE.parents[1]
TABLE = """
## Invariants

| Invariant | Tests |
|---|---|
| `latest` is | decided. | `OneSuite`, `TwoSuite`, which loses executors |
| Rows are written. | `test_rows.py`, `sink/test_order.py` (CI) |

## Where to begin

| Other | `ThreeSuite` |
"""


@pytest.fixture
def report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(invariants, "PAGE", tmp_path / "page.md")
    invariants.PAGE.write_text(TABLE, encoding="utf-8")
    return tmp_path / "report.xml"


def write(report: Path, **inside: str) -> None:
    cases = "".join(
        f'<testcase classname="{name.replace("__", ".")}" name="a">{it}</testcase>'
        for name, it in inside.items()
    )
    report.write_text(f"<testsuite>{cases}</testsuite>", encoding="utf-8")


def test_the_names_are_those_of_the_second_column() -> None:
    expected = [("OneSuite", False), ("TwoSuite", False), ("test_rows", False)]
    assert list(named(TABLE)) == [*expected, ("sink.test_order", True)]


def test_a_named_test_that_passed_proves_its_row(report: Path) -> None:
    write(report, a__OneSuite="", a__b__TwoSuite="", tests__e2e__test_rows="")
    assert unproven([report], is_ci=False) == []
    missing = "docs/architecture.md names sink.test_order, and none of its tests passed"
    assert unproven([report], is_ci=True) == [missing]


def test_no_report_a_skipped_and_a_failed_test_prove_nothing(report: Path) -> None:
    write(report, a__OneSuite="<skipped/>", a__TwoSuite="<failure/>", a__test_rows_too="")
    lacks = unproven([report, report.with_name("none.xml")], is_ci=False)
    assert [lack.split()[2] for lack in lacks] == ["OneSuite,", "TwoSuite,", "test_rows,"]


def test_each_row_of_the_table_names_a_test() -> None:
    table = section(PAGE.read_text(encoding="utf-8"))
    rows = [it for it in table.splitlines() if it.startswith("| ") and "---" not in it][1:]
    assert len(rows) > 50
    for row in rows:
        assert list(named(f"\n## Invariants\n{row}\n")), row


def test_each_name_in_the_table_is_that_of_one_file_or_suite() -> None:
    places = [ROOT / it for it in ("connector-scala", "localstack/simulator", "tests", "python")]
    files = [f"{it.with_suffix('')}" for place in places for it in place.rglob("test_*.py")]
    scala = [it for place in places for it in place.rglob("*.scala") if "src/test" in str(it)]
    code = "\n".join(it.read_text(encoding="utf-8") for it in scala)
    for name, _ in named(PAGE.read_text(encoding="utf-8")):
        found = [it for it in files if it.endswith(f"/{name.replace('.', '/')}")]
        found += re.findall(rf"\bclass {name}\b", code)
        assert len(found) == 1, f"{name}: {found}"
