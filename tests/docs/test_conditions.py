"""The reference of errors against the code that raises them."""

from __future__ import annotations

import re
from collections import Counter

from tests.docs.pages import ROOT, Page

ERRORS = Page(name="docs/reference/errors.md")
HEADING = re.compile(r"^### (KINESIS_\w+)$", re.MULTILINE)


def raised() -> set[str]:
    """Every condition that the connector's code contains as a text."""
    code = (ROOT / "connector-scala" / "src" / "main").rglob("*.scala")
    texts = (file.read_text(encoding="utf-8") for file in code)
    return {name for text in texts for name in re.findall(r'"(KINESIS_[A-Z_]+)"', text)}


def test_the_reference_has_exactly_the_conditions_of_the_code() -> None:
    documented = Counter(HEADING.findall(ERRORS.text))
    assert max(documented.values()) == 1
    assert documented.keys() == raised()


def test_every_condition_has_a_cause_and_a_remedy() -> None:
    _, *sections = re.split(r"^### ", ERRORS.text, flags=re.MULTILINE)
    for section in sections:
        heading, cause, remedy, *_ = section.split("\n\n")
        assert cause.startswith("**Cause.** "), heading
        assert remedy.startswith("**Remedy.** "), heading


def test_every_condition_that_a_page_names_exists() -> None:
    for file in (ROOT / "docs").rglob("*.md"):
        named = set(re.findall(r"\bKINESIS_[A-Z_]+\b", file.read_text(encoding="utf-8")))
        assert named - raised() - {"KINESIS_", "KINESIS_CONTRACT_AWS"} == set(), file
