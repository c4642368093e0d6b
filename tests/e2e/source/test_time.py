"""The page about time: its code runs, and nothing that happens to a stream changes a window."""

from __future__ import annotations

import json
import re
from collections import Counter
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as F  # noqa: N812, as usual with Spark

from spark_kinesis import columns
from tests.docs.pages import FENCE, Page
from tests.e2e.support.harness import await_end
from tests.e2e.support.streams import Stream, local_kinesis, source_of
from tests.e2e.support.stub_server import CBOR, cbor_text, serving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame, Row, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

pytestmark = [pytest.mark.spark4, pytest.mark.slow]

PAGE = Page(name="docs/how-to/time.md")
PYTHON = [it["code"] for it in FENCE.finditer(PAGE.text) if it["language"] == "python"]
STATE = next(number for number, code in enumerate(PYTHON) if "StatefulProcessor" in code)
START = datetime(2026, 11, 23, 8, tzinfo=timezone.utc)
PROVIDER = "spark.sql.streaming.stateStore.providerClass"
DEFAULT = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
# A row of the page's table: a name, how many rows, and the memory with each store.
SIZE = re.compile(r"^\| `(\w+)` \| ([\d,]+)\D[^|]*\| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
SIZES = SIZE.findall(PAGE.text)
UNITS = {"kB": 1e3, "MB": 1e6}


def put(stream: Stream, rows: list[dict[str, Any]]) -> None:
    """Write rows as JSON."""
    for row in rows:
        stream.put_raw(json.dumps(row).encode(), row["order_id"])


def at(minute: float) -> str:
    """A time of the events."""
    return (START + timedelta(minutes=minute)).isoformat()


def ordered(number: int, minute: float) -> dict[str, Any]:
    """An order of one of three customers."""
    customer = f"c{number % 3}"
    return {"order_id": f"o{number}", "customer": customer, "amount": 2.0, "at": at(minute)}


class Outcome:
    """What a query wrote, how many rows it dropped, and the progress of its state."""

    def __init__(self, frame: DataFrame, checkpoint: Path, mode: str) -> None:
        """Run the query over all that has arrived."""
        self.rows: list[Row] = []
        query = (
            frame.writeStream.foreachBatch(lambda batch, _: self.rows.extend(batch.collect()))
            .outputMode(mode)
            .option("checkpointLocation", str(checkpoint))
            .trigger(availableNow=True)
            .start()
        )
        await_end(query)
        self.dropped = sum(dropped(query))
        (self.state,) = query.recentProgress[-1]["stateOperators"]


def dropped(query: StreamingQuery) -> Iterator[int]:
    """The rows that each operator of each batch dropped."""
    for progress in query.recentProgress:
        for operator in progress["stateOperators"]:
            yield operator["numRowsDroppedByWatermark"]


@pytest.fixture
def page(
    spark: SparkSession, new_stream: Callable[..., Stream], tmp_path: Path
) -> Callable[[str, str], Outcome]:
    """Runs the DataFrame of the page with a name, in an output mode."""
    orders, payments = new_stream(), new_stream(shards=1)
    put(orders, [ordered(number, number / 4) for number in range(12)])
    put(orders, [ordered(0, 1), ordered(5, 2)])  # the producer tried again
    put(orders, [ordered(100, 300)])  # moves the watermark
    put(payments, [{"order_id": f"o{n}", "paid_at": at(n / 4 + 10)} for n in range(6)])
    put(payments, [{"order_id": "o7", "paid_at": at(90)}, {"order_id": "o100", "paid_at": at(299)}])
    names: dict[str, Any] = {
        "spark": spark,
        "orders": orders.source().read_stream(spark),
        "payments": payments.source().read_stream(spark),
    }

    def run(name: str, mode: str) -> Outcome:
        for number, code in enumerate(PYTHON):
            if number != STATE or name == "totals":
                exec(code, names)
        return Outcome(names[name], tmp_path / name, mode)

    return run


@pytest.mark.parametrize("kinesis", ["simulator"], indirect=True)
def test_windows_duplicates_sessions_and_joins_of_the_page(
    page: Callable[[str, str], Outcome],
) -> None:
    minutes = page("per_minute", "update")
    counts = {row["window"]: row["count"] for row in minutes.rows}
    assert (sum(counts.values()), minutes.dropped) == (15, 0)

    amounts = page("revenue", "append")
    assert sorted(row["amount"] for row in amounts.rows) == [8.0, 10.0, 10.0]
    assert amounts.dropped == 0

    unique = page("unique", "append")
    assert Counter(row["order_id"] for row in unique.rows).most_common(1)[0][1] == 1
    assert len(unique.rows) == 13

    sessions = page("sessions", "append")
    assert {row["customer"]: row["count"] for row in sessions.rows} == {"c0": 5, "c1": 4, "c2": 5}

    joined = page("joined", "append")
    assert Counter(row["paid_at"] - row["at"] for row in joined.rows).total() == 8
    names = joined.rows[0].__fields__
    assert len(set(names)) == len(names), "a table needs names that differ"


@pytest.mark.parametrize("kinesis", ["simulator"], indirect=True)
def test_state_of_the_page(spark: SparkSession, page: Callable[[str, str], Outcome]) -> None:
    with state_in(spark, ROCKSDB):
        totals = {row["customer"]: row["total"] for row in page("totals", "update").rows}
    assert totals == {"c0": 10.0, "c1": 10.0, "c2": 10.0}


@contextmanager
def state_in(spark: SparkSession, provider: str) -> Iterator[None]:
    """Queries that start here keep their state in this store."""
    before = str(spark.conf.get(PROVIDER))
    spark.conf.set(PROVIDER, provider)
    try:
        yield
    finally:
        spark.conf.set(PROVIDER, before)


@pytest.mark.parametrize("kinesis", ["simulator"], indirect=True)
def test_the_state_is_as_large_as_the_page_says(
    spark: SparkSession, new_stream: Callable[..., Stream], tmp_path: Path
) -> None:
    at = f"timestampadd(MILLISECOND, id * 60, timestamp'{START:%Y-%m-%dT%H:%M:%SZ}') AS at"
    made = spark.range(10_000).selectExpr(
        "concat('o', id) AS order_id", "id % 1000 AS customer", at
    )
    orders, payments = new_stream(), new_stream()
    for stream, row in (
        (orders, ["order_id", "string(customer)", "2.0D AS amount", "at"]),
        (payments, ["order_id", "at AS paid_at"]),
    ):
        data = made.selectExpr(*row).selectExpr("to_json(struct(*)) AS data")
        stream.sink(aggregation="kpl").write(data)
    names: dict[str, Any] = {
        "spark": spark,
        "orders": orders.source().read_stream(spark),
        "payments": payments.source().read_stream(spark),
    }
    with state_in(spark, ROCKSDB):
        for code in PYTHON:
            exec(code, names)
    assert len(SIZES) == 6, "the page's table has another form"
    for name, rows, *memory in SIZES:
        for store, shown in zip((DEFAULT, ROCKSDB), memory, strict=True):
            if shown[0].isdigit():
                mode = "update" if name == "totals" else "append"
                with state_in(spark, store):
                    state = Outcome(names[name], tmp_path / name / store, mode).state
                # The records may arrive before and after the end of a minute.
                spare = 1 if name == "per_minute" else 0
                expected = int(rows.replace(",", ""))
                assert expected <= state["numRowsTotal"] <= expected + spare, name
                number, unit = shown.split()
                size = float(number) * UNITS[unit]
                assert size / 3 < state["memoryUsedBytes"] < size * 3, (name, store)


class Relay:
    """Passes requests on to a local Kinesis, and refuses the first reads of a shard."""

    def __init__(self, endpoint: str, shard: str, times: int) -> None:
        """Refuse so many requests for an iterator of the shard."""
        self.host, self.shard, self.left = endpoint.removeprefix("http://"), shard.encode(), times

    def refuses(self, target: str, body: bytes) -> bool:
        """Whether to refuse a request."""
        is_due = self.left > 0 and target.endswith("GetShardIterator") and self.shard in body
        self.left -= is_due
        return is_due

    @contextmanager
    def serving(self) -> Iterator[str]:
        """Serve. Yields the endpoint."""
        relay = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                status, headers, answer = relay.passed_on(dict(self.headers), body)
                if relay.refuses(self.headers.get("X-Amz-Target", ""), body):
                    words = ("__type", "ProvisionedThroughputExceededException")
                    status, answer = 400, b"\xa1" + b"".join(map(cbor_text, words))
                    headers["Content-Type"] = CBOR
                self.send_response_only(status)
                # The others, such as the time of the service, as they are.
                for header, value in {**headers, "Content-Length": str(len(answer))}.items():
                    self.send_header(header, value)
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_: object) -> None:
                """Do not log."""

        with serving(Handler) as endpoint:
            yield endpoint

    def passed_on(self, headers: dict[str, str], body: bytes) -> tuple[int, dict[str, str], bytes]:
        """The answer of the local Kinesis: status, headers, body."""
        connection = HTTPConnection(self.host, timeout=60)
        connection.request("POST", "/", body, headers)
        answer = connection.getresponse()
        told = {name.title(): value for name, value in answer.getheaders()}
        told.pop("Transfer-Encoding", None)
        return answer.status, told, answer.read()


def counted(frame: DataFrame, checkpoint: Path) -> tuple[int, bool]:
    """The sum of all windows of one minute, and whether rows were dropped as late."""
    column = columns.APPROXIMATE_ARRIVAL_TIMESTAMP
    windows = frame.withWatermark(column, "4 minutes").groupBy(F.window(column, "1 minute"))
    outcome = Outcome(windows.count(), checkpoint, "update")
    latest = {row["window"]: row["count"] for row in outcome.rows}
    return sum(latest.values()), outcome.dropped > 0


def test_a_backlog_an_idle_shard_a_refused_shard_and_a_reshard_change_no_window(
    spark: SparkSession, checkpoint: Path
) -> None:
    with local_kinesis() as kinesis:
        stream = Stream(kinesis.endpoint, shards=3)  # the second one is idle
        busy, quiet = (stream.open_shards()[it]["HashKeyRange"] for it in (0, 2))

        def write(shard: dict[str, str]) -> None:
            key = shard["StartingHashKey"]
            stream.client.put_record(
                StreamName=stream.name, Data=b"1", PartitionKey="k", ExplicitHashKey=key
            )

        for minute in range(12):
            for _ in range(10):
                write(busy)
            if minute == 6:
                stream.split()
            kinesis.advance(timedelta(minutes=1))
        write(quiet)
        found = {}
        for skew in (None, "none"):
            relay = Relay(kinesis.endpoint, "shardId-000000000000", times=5)
            with relay.serving() as endpoint:
                options = {"max_records_per_trigger": 20, "max_shard_skew": skew}
                source = source_of(endpoint, stream.name, **options)
                found[skew] = counted(source.read_stream(spark), checkpoint / str(skew))
            assert not relay.left, "nothing was refused"
    assert found[None] == (121, False)
    in_windows, has_dropped = found["none"]
    assert has_dropped
    assert in_windows < 121
