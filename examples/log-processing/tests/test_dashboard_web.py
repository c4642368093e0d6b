"""The server of the dashboard."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
from batches import JOB, NOW, ProgressTable, batch, progress_item
from botocore.exceptions import ClientError, EndpointConnectionError

from log_processing.dashboard.feed import MOST_BATCHES, BatchFeed
from log_processing.dashboard.web import create_app
from log_processing.progress import LatestError
from log_processing.table import keys

if TYPE_CHECKING:
    from flask.testing import FlaskClient


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = float(NOW)

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def table() -> ProgressTable:
    return ProgressTable()


@pytest.fixture
def feed(table: ProgressTable, clock: Clock) -> BatchFeed:
    return BatchFeed(table, table="logs", job=JOB, clock=clock)


@pytest.fixture
def web(feed: BatchFeed, clock: Clock) -> FlaskClient:
    return create_app(feed, clock=clock).test_client()


def answer(web: FlaskClient) -> dict[str, Any]:
    response = web.get("/figures.json")
    assert response.status_code == 200
    found: dict[str, Any] = response.get_json()
    return found


def test_without_a_batch_the_page_explains_itself(web: FlaskClient) -> None:
    found = answer(web)
    assert (found["state"], found["figures"]) == ("empty", None)
    assert found["advice"].startswith("Table 'logs' has no batch of job 'logs' from the last day.")
    assert "Start the job" in found["advice"]


def test_batches_are_figures(web: FlaskClient, table: ProgressTable) -> None:
    table.put(batch(1, NOW - 1, seconds=[(NOW - 1, "checkout", "INFO", 3)], bad=2))
    found = answer(web)
    assert (found["state"], found["words"]) == ("live", "Live.")
    assert found["figures"]["services"] == [{"name": "checkout", "counts": [3]}]
    assert found["figures"]["now"]["bad"] == 2


def test_a_second_has_one_query_whatever_the_number_of_viewers(
    web: FlaskClient, table: ProgressTable, clock: Clock
) -> None:
    for _ in range(20):
        answer(web)
    assert len(table.queries) == 1
    clock.now += 1
    answer(web)
    assert len(table.queries) == 2


def test_viewers_at_the_same_time_share_a_query(feed: BatchFeed, table: ProgressTable) -> None:
    with ThreadPoolExecutor(8) as viewers:
        list(viewers.map(lambda _: feed.read(), range(50)))
    assert len(table.queries) == 1


def test_later_queries_read_only_new_batches(
    feed: BatchFeed, table: ProgressTable, clock: Clock
) -> None:
    table.put(batch(1, NOW - 2), batch(2, NOW - 1, bad=1))
    feed.read()
    # A job that was killed repeats its last batch.
    table.put(batch(2, NOW, bad=7), batch(3, NOW))
    clock.now += 1
    assert [(it.batch, it.bad) for it in feed.read().batches] == [(1, 0), (2, 7), (3, 0)]
    # Shortly before the newest known batch is read again, because clocks differ.
    first = table.queries[-1]["ExpressionAttributeValues"][":first"]["S"]
    assert first == keys.time_text((NOW - 1 - 60) * 1_000_000)
    assert all(it["Limit"] == MOST_BATCHES for it in table.queries)


def test_the_batches_of_a_new_checkpoint_come_after_the_old_ones(
    feed: BatchFeed, table: ProgressTable, clock: Clock
) -> None:
    table.put(batch(70, NOW - 2, query="old"), batch(71, NOW - 1, query="old"))
    feed.read()
    table.put(batch(0, NOW, query="new"), batch(71, NOW - 3, query="new"))
    clock.now += 1
    assert [(it.query, it.batch) for it in feed.read().batches] == [
        ("new", 71),  # of a machine whose clock is behind
        ("old", 70),
        ("old", 71),
        ("new", 0),
    ]


def test_old_batches_are_forgotten_but_the_newest_is_kept(
    feed: BatchFeed, table: ProgressTable, clock: Clock
) -> None:
    table.put(*[batch(number, NOW - 10 + number) for number in range(10)])
    assert len(feed.read().batches) == 10
    clock.now += 295
    assert [it.batch for it in feed.read().batches] == [5, 6, 7, 8, 9]
    clock.now += 9_999
    assert [it.batch for it in feed.read().batches] == [9]


def test_a_failed_query_keeps_the_figures_and_says_so(
    web: FlaskClient, table: ProgressTable, clock: Clock
) -> None:
    table.put(batch(1, bad=4))
    answer(web)
    table.failure = EndpointConnectionError(endpoint_url="http://127.0.0.1:1")
    clock.now += 1
    found = answer(web)
    assert found["state"] == "failed"
    assert found["words"].startswith("DynamoDB did not answer for table 'logs'.")
    assert found["figures"]["now"]["bad"] == 4
    table.failure = None
    clock.now += 1
    assert answer(web)["state"] == "live"


def test_a_missing_table_is_named(web: FlaskClient, table: ProgressTable) -> None:
    table.failure = ClientError({"Error": {"Code": "ResourceNotFoundException"}}, "Query")
    found = answer(web)
    assert (found["state"], found["figures"]) == ("failed", None)
    assert found["words"].startswith("Table 'logs' does not exist.")


def test_the_page_loads_scripts_from_this_server_alone(web: FlaskClient) -> None:
    page = web.get("/")
    policy = page.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "connect-src 'self';" in policy
    assert page.headers["X-Content-Type-Options"] == "nosniff"
    assert page.headers["Cache-Control"] == "no-store"
    assert "http" not in page.text


def test_plotly_is_served_and_cached(web: FlaskClient) -> None:
    script = web.get("/plotly.min.js")
    assert script.mimetype == "text/javascript"
    assert b"plotly.js v" in script.data[:200]
    assert "max-age=86400" in script.headers["Cache-Control"]


def test_names_in_the_page_are_escaped(clock: Clock) -> None:
    feed = BatchFeed(ProgressTable(), table="<i>t</i>", job="<script>x</script>", clock=clock)
    page = create_app(feed, clock=clock).test_client().get("/").text
    assert "<script>x" not in page
    assert "&lt;script&gt;x" in page
    assert "<i>t" not in page


def test_figures_are_json_and_not_html(web: FlaskClient, table: ProgressTable) -> None:
    table.put(batch(1, errors=[LatestError("now", "a", "<script>alert(1)</script>")]))
    response = web.get("/figures.json")
    assert response.mimetype == "application/json"
    assert response.get_json()["figures"]["errors"][0]["message"] == "<script>alert(1)</script>"


def test_the_feed_reads_a_table_of_dynamodb(dynamodb: Any) -> None:
    for number in range(MOST_BATCHES + 5):
        dynamodb.put_item(TableName="logs", Item=progress_item(batch(number, time.time())))
    dynamodb.put_item(TableName="logs", Item=progress_item(batch(999, NOW), job="other"))
    clock = Clock()
    clock.now = time.time()
    feed = BatchFeed(dynamodb, table="logs", job=JOB, clock=clock)
    assert [it.batch for it in feed.read().batches] == list(range(5, MOST_BATCHES + 5))
    dynamodb.put_item(TableName="logs", Item=progress_item(batch(MOST_BATCHES + 5, time.time())))
    clock.now += 1
    assert feed.read().batches[-1].batch == MOST_BATCHES + 5
