"""The navigation of the documentation site, and the pages that are not in it."""

from __future__ import annotations

import os
import re
from pathlib import PurePosixPath

from tests.docs.pages import ROOT, Page

DOCS = ROOT / "docs"
NAVIGATION = (DOCS / "site" / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
IN_IT = re.findall(r"^ +- .+: (\S+\.md)$", NAVIGATION, re.MULTILINE)
MOST = 25


def linked(page: str) -> set[str]:
    """The pages of the site that a page links to, by their path in `docs`."""
    folder = PurePosixPath(page).parent
    paths = (link.partition("#")[0] for link in Page(name=f"docs/{page}").links())
    return {os.path.normpath(folder / path) for path in paths if path.endswith(".md")}


def test_the_navigation_is_short() -> None:
    assert 10 < len(IN_IT) <= MOST


def test_every_page_is_in_the_navigation_or_linked_from_a_page_in_it() -> None:
    reached = {page for known in IN_IT for page in linked(known)} | set(IN_IT)
    decisions = linked("architecture.md")
    pages = {str(it.relative_to(DOCS)) for it in DOCS.rglob("*.md")}
    assert pages - reached - decisions == set()


def test_all_pages_lists_every_page() -> None:
    index = "reference/index.md"
    listed = linked(index) | linked("architecture.md") | {"index.md", index}
    assert {str(it.relative_to(DOCS)) for it in DOCS.rglob("*.md")} - listed == set()


def test_the_architecture_lists_every_decision() -> None:
    listed = Page(name="docs/architecture.md").text.partition("\n## Decisions\n")[2]
    for file in sorted((DOCS / "adr").glob("*.md")):
        title = file.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
        assert f"- [{title}](adr/{file.name})" in listed
