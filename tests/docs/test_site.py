"""The documentation site that `make docs` built, opened in a browser."""

from __future__ import annotations

import functools
import http.server
import re
import threading
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.docs.chromium import Browser, opened_browser

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow

SITE = Path(__file__).resolve().parents[2] / "target" / "site"
# One page of each kind: a guide, tables, generated from docstrings, text with a wide table.
PAGES = {
    "tutorial/": "Tutorial",
    "how-to/read/": "Read",
    "reference/options/": "Options",
    "reference/errors/": "Errors",
    "reference/python-api/": "KinesisSource",
    "explanation/comparison/": "Comparison",
    "adr/0004-unknown-parents/": "4.",
}


class LoadedFiles(HTMLParser):
    """Addresses that a browser fetches by itself when it shows a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what the element loads."""
        values = dict(attrs)
        address = values.get("href") if tag == "link" else values.get("src")
        if address:
            self.found.append(address)


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    """Serves files without a log."""

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    """The address of a server of the site on this machine."""
    assert (SITE / "index.html").exists(), "There is no site. Run `make docs` first."
    handler = functools.partial(QuietHandler, directory=str(SITE))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    yield from opened_browser(tmp_path_factory.mktemp("profile"))


def test_pages_load_nothing_from_elsewhere(site: str) -> None:
    pages = sorted(SITE.rglob("*.html"))
    assert site
    assert len(pages) > 10
    for page in pages:
        parser = LoadedFiles()
        parser.feed(page.read_text(encoding="utf-8"))
        assert parser.found, page
        assert [it for it in parser.found if re.match(r"(\w+:)?//", it)] == [], page
    for style in SITE.rglob("*.css"):
        text = style.read_text(encoding="utf-8")
        assert re.findall(r"url\(['\"]?(?:https?:)?//", text) == [], style


def test_the_home_page_shows_the_picture(site: str, browser: Browser) -> None:
    browser.open(site)
    assert browser.evaluate("document.querySelector('h1').innerText").startswith("spark-kinesis")
    browser.wait_for("document.querySelector('img[src$=\"picture.svg\"]').naturalWidth > 0")
    check_nothing_went_wrong(site, browser)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_of_each_kind_opens(site: str, browser: Browser, page: str) -> None:
    browser.open(site + page)
    assert PAGES[page] in browser.evaluate("document.querySelector('article').innerText")
    check_nothing_went_wrong(site, browser)


def test_the_search_finds_an_option(site: str, browser: Browser) -> None:
    browser.open(site)
    browser.evaluate("document.querySelector('label[for=\"__search\"]').click()")
    browser.evaluate("document.querySelector('.md-search__input').focus()")
    browser.send("Input.insertText", text="fetchBufferSize")
    links = "[...document.querySelectorAll('.md-search-result__link')].map(it => it.href)"
    browser.wait_for(f"{links}.some(it => it.includes('/reference/options/'))")
    check_nothing_went_wrong(site, browser)


def check_nothing_went_wrong(site: str, browser: Browser) -> None:
    assert browser.errors == []
    assert browser.requests
    elsewhere = [it for it in browser.requests if not it.startswith((site, "data:", "blob:"))]
    assert elsewhere == []
