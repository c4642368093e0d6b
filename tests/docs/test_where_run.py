"""One place says where this project was run. The README and the page of platforms link to it."""

from __future__ import annotations

import pytest

from tests.docs.pages import Page, all_pages

PLACE = Page(name="docs/explanation/promises.md")
STATEMENT = "has run nothing on AWS, EMR, Glue, Databricks or Kubernetes"


def test_one_place_says_it() -> None:
    assert [it.name for it in all_pages() if STATEMENT in it.text] == [PLACE.name]
    assert "where-this-was-run" in PLACE.anchors()


@pytest.mark.parametrize("name", ["README.md", "docs/how-to/platforms.md"])
def test_the_page_links_to_it(name: str) -> None:
    links = Page(name=name).links()
    assert any(it.endswith("explanation/promises.md#where-this-was-run") for it in links)
