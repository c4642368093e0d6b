"""The page in a browser, and its server."""

from __future__ import annotations

import http.client
import json
import threading
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import EndpointConnectionError
from made import event
from test_batches import SETTINGS

from log_processing.dashboard import server
from log_processing.progress import Counts, save_progress
from log_processing.sending import client
from tests.docs.chromium import Browser, opened_browser
from trial.services import TABLE

if TYPE_CHECKING:
    from collections.abc import Iterator

ATTACK = "<img src=x onerror='window.attacked = 1'>"


class Page:
    """The page of a table, whose client may fail."""

    def __init__(self, moto: str) -> None:
        self.settings = SETTINGS.__class__(**{**vars(SETTINGS), "dynamodb_endpoint": moto})
        self.dynamodb: Any = client("dynamodb", None, moto)
        self.server = server(self, TABLE, "logs", 0)
        self.url = f"http://127.0.0.1:{self.server.server_port}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def get_paginator(self, name: str) -> Any:
        return self.dynamodb.get_paginator(name)

    def save(self, batch: int, levels: dict[str, int], bad: int = 0) -> None:
        """Save a micro-batch with events of these levels."""
        counts = Counts(records=1, bad=bad, oldest=event().record.arrival_ms)
        for level, count in levels.items():
            for number in range(count):
                made = event(number, level=level, service=ATTACK, message=f"{ATTACK} {level}")
                counts.count_stored(made, made.record.arrival_ms + 1234)
        save_progress(self.settings, "query", batch, counts)

    def get(self, path: str, host: str) -> tuple[int, bytes]:
        """The status and the answer to a request under a name."""
        connection = http.client.HTTPConnection("127.0.0.1", self.server.server_port)
        connection.request("GET", path, headers={"Host": host})
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, body


@pytest.fixture
def page(moto: str) -> Iterator[Page]:
    opened = Page(moto)
    yield opened
    opened.server.shutdown()
    opened.server.server_close()


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    yield from opened_browser(tmp_path_factory.mktemp("profile"))


def state_is(kind: str) -> str:
    return f"document.getElementById('state').dataset.state === '{kind}'"


def text(browser: Browser, name: str) -> str:
    return str(browser.evaluate(f"document.getElementById('{name}').textContent"))


def test_the_page_follows_the_table(page: Page, browser: Browser) -> None:
    browser.open(page.url)
    browser.wait_for(state_is("empty"))
    page.save(1, {"INFO": 3, "ERROR": 2}, bad=4)
    page.save(2, {"fatal": 1})
    page.save(2, {"fatal": 1})  # ran again, and counts once
    browser.wait_for(state_is("live"))
    assert (text(browser, "errors"), text(browser, "bad")) == ("3", "4")
    assert text(browser, "latency") == "1.30 s, 1.30 s"
    assert browser.evaluate("document.querySelectorAll('#levels rect').length") >= 3
    assert f"{ATTACK} fatal" in text(browser, "latest")
    assert text(browser, "services").endswith("6")
    assert not browser.evaluate("window.attacked")
    assert browser.errors == []
    assert all(it.startswith((page.url, "data:")) for it in browser.requests)


def test_the_page_says_that_the_table_cannot_be_read(page: Page, browser: Browser) -> None:
    table = page.dynamodb
    page.save(1, {"INFO": 1})
    browser.open(page.url)
    browser.wait_for(state_is("live"))

    class Away:
        def get_paginator(self, _: str) -> Any:
            raise EndpointConnectionError(endpoint_url="http://dynamodb")

    page.dynamodb = Away()
    browser.wait_for(state_is("failed"))
    assert "Could not connect" in text(browser, "state")
    assert text(browser, "errors") == "0"  # the last figures stay
    page.dynamodb = table
    browser.wait_for(state_is("live"))


def test_the_server_answers_only_under_its_own_name(page: Page) -> None:
    page.save(7, {"INFO": 1})
    own = f"127.0.0.1:{page.server.server_port}"
    status, body = page.get("/batches.json", own)
    assert (status, [it["batch"] for it in json.loads(body)]) == (200, [7])
    assert page.get("/", "localhost")[0] == 200
    assert page.get("/batches.json", "elsewhere.example")[0] == 403
    assert page.get("/other", own)[0] == 404
