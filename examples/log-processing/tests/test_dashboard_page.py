"""The page of the dashboard in a browser."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from batches import JOB, ProgressTable, batch
from botocore.exceptions import EndpointConnectionError
from werkzeug.serving import make_server

from log_processing.dashboard.feed import BatchFeed
from log_processing.dashboard.web import create_app
from log_processing.progress import Latency, LatestError, Progress, ShardLag
from tests.docs.chromium import Browser, opened_browser

CHARTS = ("levels", "services", "latency", "shards", "bad")
ATTACK = "<script>window.attacked = 1</script><img src=x onerror='window.attacked = 1'>"
LINK = "<a href='https://a.b/'>link</a>"


def batches(*, end: float) -> list[Progress]:
    """A minute of a busy job."""
    return [
        batch(
            60 - age,
            end - age,
            seconds=[
                (int(end) - age, service, level, count)
                for service in ("checkout", LINK)
                for level, count in (("INFO", 90), ("ERROR", 10))
            ],
            latency=Latency(300 + age, 900 + age, 2_000),
            shards=[ShardLag("logs", f"shardId-{it:012d}", 100 * it) for it in range(4)],
            errors=[LatestError(f"2026-11-23T07:15:{60 - age:02d}", LINK, ATTACK)],
            bad=age % 3,
        )
        for age in range(59, -1, -1)
    ]


class Page:
    """The page, in a browser, of a table in memory."""

    def __init__(self, browser: Browser, table: ProgressTable, port: int) -> None:
        self.browser, self.table = browser, table
        self.url = f"http://127.0.0.1:{port}/"

    def open(self) -> Browser:
        """Open the page and wait for the first figures."""
        self.browser.open(self.url)
        self.wait_for("document.getElementById('state').dataset.state !== 'loading'")
        return self.browser

    def wait_for(self, condition: str) -> None:
        self.browser.wait_for(condition)

    def text(self, name: str) -> str:
        """The text that an element shows."""
        return str(self.browser.evaluate(f"document.getElementById('{name}').innerText"))


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    yield from opened_browser(tmp_path_factory.mktemp("profile"))


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    table = ProgressTable()
    app = create_app(BatchFeed(table, table="logs", job=JOB))
    server = make_server("127.0.0.1", 0, app, threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield Page(browser, table, server.port)
    browser.open("about:blank")
    server.shutdown()
    server.server_close()


def shapes(chart: str) -> str:
    """The number of shapes in a chart that show data, in JavaScript."""
    selector = ":is(.js-fill, .js-line, .points path)"
    return f"document.querySelectorAll('#{chart}-chart .cartesianlayer .trace {selector}').length"


def test_charts_are_drawn_without_errors_and_without_other_servers(page: Page) -> None:
    page.table.put(*batches(end=time.time()))
    browser = page.open()
    for chart in CHARTS:
        page.wait_for(f"{shapes(chart)} > 0")
        assert page.text(f"{chart}-text").endswith(".")
    assert {urlsplit(it).netloc for it in browser.requests} == {urlsplit(page.url).netloc}
    assert browser.errors == []


def test_a_message_is_shown_as_text(page: Page) -> None:
    page.table.put(*batches(end=time.time()))
    browser = page.open()
    cells = "document.querySelector('#errors tbody tr')?.cells"
    page.wait_for(f"{cells} !== undefined")
    assert browser.evaluate(f"{cells}[0].textContent") == "2026-11-23T07:15:60"
    assert browser.evaluate(f"{cells}[1].textContent") == LINK
    assert browser.evaluate(f"{cells}[2].textContent") == ATTACK
    page.wait_for("document.querySelector('#services-chart .legendtext') !== null")
    names = (
        "[...document.querySelectorAll('#services-chart .legendtext')].map(it => it.textContent)"
    )
    assert any(str(it).startswith("<a href=") for it in browser.evaluate(names))
    assert (
        browser.evaluate("document.querySelectorAll('main a, main img, main script').length") == 0
    )
    assert browser.evaluate("window.attacked") is None
    assert browser.errors == []


def test_new_batches_appear_by_themselves(page: Page) -> None:
    page.open()
    assert "has no batch of job 'logs'" in page.text("empty-text")
    assert page.browser.evaluate("document.getElementById('figures').hidden") is True
    page.table.put(batch(1, time.time(), bad=3))
    page.wait_for("document.getElementById('bad-count').innerText === '3'")
    assert page.text("state") == "Live."
    page.table.put(batch(2, time.time(), bad=4))
    page.wait_for("document.getElementById('bad-count').innerText === '7'")
    assert page.text("no-errors") == "No errors in the last 5 minutes."


def test_old_figures_are_shown_as_old(page: Page) -> None:
    page.table.put(batch(1, time.time() - 100))
    page.open()
    assert page.text("state").startswith("No batch for 10")
    assert page.browser.evaluate("document.body.className") == "stale"


def test_a_failure_is_shown_and_goes_away(page: Page) -> None:
    page.table.put(batch(1, time.time()))
    page.open()
    page.table.failure = EndpointConnectionError(endpoint_url="http://127.0.0.1:1")
    page.wait_for("document.body.className === 'failed'")
    assert "DynamoDB did not answer for table 'logs'." in page.text("state")
    assert page.browser.evaluate("document.getElementById('figures').hidden") is False
    page.table.failure = None
    page.table.put(batch(2, time.time()))
    page.wait_for("document.body.className === 'live'")


def test_a_server_that_ended_is_shown(page: Page) -> None:
    page.table.put(batch(1, time.time()))
    browser = page.open()
    browser.evaluate("window.fetch = () => Promise.reject(new TypeError('refused'))")
    page.wait_for("document.body.className === 'failed'")
    assert page.text("state").startswith("The dashboard's server does not answer (refused).")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_charts_have_the_colours_of_the_page(page: Page, scheme: str) -> None:
    page.table.put(*batches(end=time.time()))
    media = [{"name": "prefers-color-scheme", "value": scheme}]
    page.browser.send("Emulation.setEmulatedMedia", features=media)
    page.open()
    page.wait_for("document.querySelector('#levels-chart .main-svg') !== null")
    card = "getComputedStyle(document.querySelector('figure')).backgroundColor"
    chart = "getComputedStyle(document.querySelector('#levels-chart .main-svg')).backgroundColor"
    assert page.browser.evaluate(card) == page.browser.evaluate(chart)
    is_dark = page.browser.evaluate(card) != "rgb(255, 255, 255)"
    assert is_dark == (scheme == "dark")


def test_each_chart_has_a_name_and_a_description(page: Page) -> None:
    page.table.put(*batches(end=time.time()))
    page.open()
    tree = page.browser.send("Accessibility.getFullAXTree")["nodes"]
    images = [it["name"]["value"] for it in tree if it.get("role", {}).get("value") == "image"]
    starts = (
        "Events per second by level Last",
        "Lag per shard 4 shards with",
        "Bad events per batch",
    )
    for start in starts:
        assert any(name.startswith(start) for name in images), (start, images)
