"""The table of mutants fits the code: whoever moves code moves its rows."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.mutants.table import MAIN, MUTANTS, PROJECTS, ROOT, Mutant


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_the_row_fits_the_code(mutant: Mutant) -> None:
    assert mutant.problem(ROOT) is None


def test_each_mutant_has_a_name_and_a_fault_of_its_own() -> None:
    assert max(Counter(mutant.name for mutant in MUTANTS).values()) == 1
    assert all(mutant.old != mutant.new for mutant in MUTANTS)


@pytest.mark.parametrize(
    ("code", "suite", "problem"),
    [
        ("one two", "OneSuite", None),
        ("two", "OneSuite", "A.scala contains its old text 0 times instead of once"),
        ("one one", "OneSuite", "A.scala contains its old text 2 times instead of once"),
        ("one", "TwoSuite", "no project has the suite TwoSuite"),
        (None, "OneSuite", "A.scala does not exist"),
    ],
)
def test_a_row_that_does_not_fit_says_why(
    tmp_path: Path, code: str | None, suite: str, problem: str | None
) -> None:
    tests = tmp_path / PROJECTS["integration"] / "src/test/scala/some"
    tests.mkdir(parents=True)
    (tests / "OneSuite.scala").touch()
    (tmp_path / MAIN).mkdir(parents=True)
    if code is not None:
        (tmp_path / MAIN / "A.scala").write_text(code, encoding="utf-8")
    mutant = Mutant(name="a", promise="b", file="A.scala", old="one", new="three", suite=suite)
    assert mutant.problem(tmp_path) == (problem and problem.replace("A.scala", f"{MAIN}/A.scala"))
