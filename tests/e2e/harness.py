"""What the end-to-end tests share: numbered records, resharding, and a sink that keeps count."""

from __future__ import annotations

import json
import threading
import time
import uuid
from collections import Counter, defaultdict
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import boto3

from spark_kinesis import KinesisSource, StaticCredentials, TrimHorizon

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame, Row, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

PATIENCE_SECONDS = 90.0
FENCE = "fence"
MAX_HASH_KEY = 2**128 - 1
KEYS = tuple(f"key-{number}" for number in range(40))
LOCAL = StaticCredentials(access_key_id="local", secret_access_key="local")
REGION = "us-east-1"


@dataclass(frozen=True)
class Written:
    """A record put: the nth of its key."""

    key: str
    n: int


@dataclass(frozen=True)
class Collected:
    """A record that arrived downstream."""

    batch: int
    shard: str
    sequence: int
    key: str
    n: int


def wait_for(what: str, condition: Callable[[], bool]) -> None:
    """Poll until a condition holds.

    Raises:
        TimeoutError: naming it, after 90 s.
    """
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"not within {PATIENCE_SECONDS:.0f} s: {what}")
        time.sleep(0.05)


@dataclass
class Stream:
    """A stream of its own for one test, and every record the test put into it."""

    endpoint: str
    shards: int = 2
    name: str = field(default_factory=lambda: f"test-{uuid.uuid4().hex[:12]}")
    written: list[Written] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Create it."""
        self.client = boto3.client(
            "kinesis",
            endpoint_url=self.endpoint,
            region_name=REGION,
            aws_access_key_id=LOCAL.access_key_id,
            aws_secret_access_key=LOCAL.secret_access_key,
        )
        self._next: Counter[str] = Counter()
        self.client.create_stream(StreamName=self.name, ShardCount=self.shards)
        self.wait_active()

    def source(self, **options: Any) -> KinesisSource:
        """A source on this stream, from the trim horizon unless told otherwise."""
        given = {"starting_position": TrimHorizon(), **options}
        return KinesisSource(
            stream_name=self.name,
            region=REGION,
            endpoint=self.endpoint,
            credentials=LOCAL,
            **given,
        )

    def wait_active(self) -> None:
        """Wait until a change of shards is done."""
        wait_for(f"{self.name} is active", lambda: self._status() == "ACTIVE")

    def _status(self) -> str:
        summary = self.client.describe_stream_summary(StreamName=self.name)
        return str(summary["StreamDescriptionSummary"]["StreamStatus"])

    def put(self, count: int, keys: tuple[str, ...] = KEYS) -> None:
        """Put numbered records, the keys taking turns.

        A request holds a key once, and is complete before the next: whatever is throttled and
        sent again, each key's records are written in the order of their numbers.
        """
        for first in range(0, count, len(keys)):
            batch = []
            for key in keys[: count - first]:
                batch.append(Written(key, self._next[key]))
                self._next[key] += 1
            entries = [
                {"PartitionKey": w.key, "Data": json.dumps({"key": w.key, "n": w.n}).encode()}
                for w in batch
            ]
            self._send(entries)
            self.written += batch

    def put_raw(self, data: bytes, key: str) -> None:
        """Put one record that is not numbered."""
        self._send([{"PartitionKey": key, "Data": data}])

    def _send(self, entries: list[dict[str, Any]]) -> None:
        left = entries

        def sent() -> bool:
            nonlocal left
            answers = self.client.put_records(StreamName=self.name, Records=left)["Records"]
            left = [e for e, a in zip(left, answers, strict=True) if "ErrorCode" in a]
            return not left

        wait_for("every record is accepted", sent)

    def open_shards(self) -> list[dict[str, Any]]:
        """The shards that take writes, by hash key."""
        shards = self.all_shards()
        is_open = [s for s in shards if "EndingSequenceNumber" not in s["SequenceNumberRange"]]
        return sorted(is_open, key=lambda s: int(s["HashKeyRange"]["StartingHashKey"]))

    def all_shards(self) -> list[dict[str, Any]]:
        """Every shard the stream still lists."""
        pages = self.client.get_paginator("list_shards").paginate(StreamName=self.name)
        return [shard for page in pages for shard in page["Shards"]]

    def split(self, index: int = 0) -> None:
        """Split one of the open shards in half."""
        shard = self.open_shards()[index]
        bounds = shard["HashKeyRange"]
        middle = (int(bounds["StartingHashKey"]) + int(bounds["EndingHashKey"])) // 2
        self.client.split_shard(
            StreamName=self.name, ShardToSplit=shard["ShardId"], NewStartingHashKey=str(middle)
        )
        self.wait_active()

    def merge(self, index: int = 0) -> None:
        """Merge an open shard with its right neighbour."""
        left, right = self.open_shards()[index : index + 2]
        self.client.merge_shards(
            StreamName=self.name,
            ShardToMerge=left["ShardId"],
            AdjacentShardToMerge=right["ShardId"],
        )
        self.wait_active()

    def fence(self) -> list[Written]:
        """A last record into every open shard; when they arrive, all before them has."""
        fences = []
        for shard in self.open_shards():
            fence = Written(FENCE, self._next[FENCE])
            self._next[FENCE] += 1
            data = json.dumps({"key": FENCE, "n": fence.n}).encode()
            hash_key = shard["HashKeyRange"]["StartingHashKey"]
            self._send([{"PartitionKey": FENCE, "Data": data, "ExplicitHashKey": hash_key}])
            fences.append(fence)
        return fences

    def read_all(self) -> list[tuple[str, bytes]]:
        """Partition key and data of every record, read with boto3 alone."""
        found = []
        for shard in self.all_shards():
            iterator = self.client.get_shard_iterator(
                StreamName=self.name,
                ShardId=shard["ShardId"],
                ShardIteratorType="TRIM_HORIZON",
            )["ShardIterator"]
            behind = True
            while iterator and behind:
                page = self.client.get_records(ShardIterator=iterator)
                found += [(r["PartitionKey"], r["Data"]) for r in page["Records"]]
                iterator = page.get("NextShardIterator")
                behind = bool(page["Records"]) or page["MillisBehindLatest"] > 0
        return found


class Collector:
    """A `foreachBatch` sink that is idempotent per batch, as a careful user's would be.

    A batch that runs again must bring exactly the rows it brought before.
    """

    def __init__(self) -> None:
        """Nothing collected yet."""
        self._changed = threading.Condition()
        self._batches: dict[int, list[Collected]] = {}
        self.reruns = 0

    def __call__(self, frame: DataFrame, batch: int) -> None:
        """Keep a batch."""
        rows = sorted((collected(row, batch) for row in frame.collect()), key=lambda r: r.sequence)
        with self._changed:
            before = self._batches.get(batch)
            if before is not None:
                self.reruns += 1
                if before != rows:
                    raise AssertionError(f"batch {batch} ran again with other rows")
            self._batches[batch] = rows
            self._changed.notify_all()

    @property
    def rows(self) -> list[Collected]:
        """Everything so far, in the order of batches."""
        with self._changed:
            return [row for batch in sorted(self._batches) for row in self._batches[batch]]

    def numbered(self) -> list[Collected]:
        """Everything so far but the fences."""
        return [row for row in self.rows if row.key != FENCE]

    def wait(self, query: StreamingQuery, expected: Iterable[Written]) -> None:
        """Wait until records have arrived.

        Raises:
            TimeoutError: after 90 s, with how many are missing.
            RuntimeError: when the query failed.
        """
        wanted = set(expected)
        deadline = time.monotonic() + PATIENCE_SECONDS
        with self._changed:
            while missing := wanted - self._seen():
                if not query.isActive:
                    raise RuntimeError(f"the query ended: {query.exception()}")
                if time.monotonic() > deadline:
                    raise TimeoutError(f"{len(missing)} of {len(wanted)} records did not arrive")
                self._changed.wait(0.2)

    def _seen(self) -> set[Written]:
        return {Written(r.key, r.n) for rows in self._batches.values() for r in rows}


def collected(row: Row, batch: int) -> Collected:
    """A row of the source; an empty record counts as number -1 of its key."""
    body = json.loads(bytes(row["data"])) if row["data"] else {"key": row["partitionKey"], "n": -1}
    return Collected(batch, row["shardId"], int(row["sequenceNumber"]), body["key"], body["n"])


@contextmanager
def running(
    spark: SparkSession, source: KinesisSource, checkpoint: Path, sink: Any
) -> Iterator[StreamingQuery]:
    """A query from a source into a `foreachBatch` function, stopped at the end."""
    writer = source.load(spark).writeStream.foreachBatch(sink)
    query = writer.option("checkpointLocation", str(checkpoint)).start()
    try:
        yield query
    finally:
        query.stop()


def wait_started(checkpoint: Path) -> None:
    """Wait until a new query has decided, durably, where it begins."""
    wait_for("the first offset is logged", (checkpoint / "offsets" / "0").is_file)


def drain(stream: Stream, query: StreamingQuery, collector: Collector) -> None:
    """Wait for everything written so far, and for all that could come before a fence."""
    collector.wait(query, stream.written)
    collector.wait(query, stream.fence())


def verdict(written: list[Written], rows: list[Collected]) -> dict[str, int]:
    """How many records were lost, came twice, or came before an earlier one of their key."""
    seen = Counter(Written(row.key, row.n) for row in rows)
    per_key: dict[str, list[int]] = defaultdict(list)
    for row in sorted(rows, key=lambda r: (r.batch, r.sequence)):
        per_key[row.key].append(row.n)
    return {
        "lost": len(set(written) - set(seen)),
        "duplicated": sum(times - 1 for times in seen.values()),
        "out_of_order": sum(b < a for ns in per_key.values() for a, b in pairwise(ns)),
        "foreign": len(set(seen) - set(written)),
    }


def assert_exactly_once_in_order(written: list[Written], rows: list[Collected]) -> None:
    """Every record once, and each key's in the order they were written."""
    assert written, "the test wrote nothing"
    assert len({(row.shard, row.sequence) for row in rows}) == len(rows), "a row key came twice"
    good = {"lost": 0, "duplicated": 0, "out_of_order": 0, "foreign": 0}
    assert verdict(written, rows) == good
