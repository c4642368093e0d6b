"""The stream of a test: numbered records, resharding, and reads with boto3."""

from __future__ import annotations

import itertools
import json
import os
import time
import uuid
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import boto3
import pytest

from spark_kinesis import (
    EnhancedFanOut,
    KinesisSink,
    KinesisSource,
    StaticCredentials,
    TrimHorizon,
)
from spark_kinesis.local import LocalKinesis

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PATIENCE_SECONDS = 180.0  # the machine may be busy
FENCE = "fence"
FENCE_NUMBERS = itertools.count()  # unique across streams: a query may read several
MAX_HASH_KEY = 2**128 - 1
KEYS = tuple(f"key-{number}" for number in range(40))
LOCAL = StaticCredentials(access_key_id="local", secret_access_key="local")
REGION = "us-east-1"
POLLING = "polling"
FAN_OUT = "fan-out"
CONSUMERS = {POLLING: None, FAN_OUT: EnhancedFanOut(name="reports")}


@contextmanager
def local_kinesis(**settings: Any) -> Iterator[LocalKinesis]:
    """A local Kinesis with the jars of Spark 4 and Scala 2.13, on whatever Spark the tests run."""
    with pytest.MonkeyPatch.context() as patch:
        if home := os.environ.get("SIMULATOR_SPARK_HOME"):
            patch.setenv("SPARK_HOME", home)
            patch.delenv("SPARK_KINESIS_JAR")
        kinesis = LocalKinesis(**settings).start()
    try:
        yield kinesis
    finally:
        kinesis.stop()


@dataclass(frozen=True)
class Written:
    """A record that was written: record number ``n`` of its key."""

    key: str
    n: int


def wait_for(what: str, condition: Callable[[], bool], seconds: float = PATIENCE_SECONDS) -> None:
    """Poll until a condition holds.

    The pauses are four times as long as the condition took, from 50 ms to 1 s, because some
    conditions read a whole stream.

    Raises:
        TimeoutError: naming it, after some seconds.
    """
    deadline = time.monotonic() + seconds
    asked = time.monotonic()
    while not condition():
        now = time.monotonic()
        if now > deadline:
            raise TimeoutError(f"not within {seconds:.0f} s: {what}")
        time.sleep(min(1.0, max(0.05, 4 * (now - asked))))
        asked = time.monotonic()


def wait_more(what: str, count: Callable[[], int], more: int = 1) -> None:
    """Wait until a number has grown."""
    before = count()
    wait_for(f"{more} more {what}", lambda: count() >= before + more)


def source_of(endpoint: str, stream: str, **options: Any) -> KinesisSource:
    """A source of a stream that is there, by default from the trim horizon."""
    given = {"starting_position": TrimHorizon(), **options}
    return KinesisSource(
        stream_name=stream, region=REGION, endpoint=endpoint, credentials=LOCAL, **given
    )


@dataclass
class Stream:
    """The stream of a test, and all records that the test wrote to it."""

    endpoint: str
    shards: int = 2
    mode: str = POLLING  # how queries read it
    name: str = field(default_factory=lambda: f"test-{uuid.uuid4().hex[:12]}")
    written: list[Written] = field(default_factory=list)
    is_new: bool = True

    def __post_init__(self) -> None:
        """Create the stream, if it is new."""
        self.client = boto3.client(
            "kinesis",
            endpoint_url=self.endpoint,
            region_name=REGION,
            aws_access_key_id=LOCAL.access_key_id,
            aws_secret_access_key=LOCAL.secret_access_key,
        )
        self._next: Counter[str] = Counter()
        if self.is_new:
            self.client.create_stream(StreamName=self.name, ShardCount=self.shards)
            self.wait_active()

    def source(self, **options: Any) -> KinesisSource:
        """A source of this stream, by default from the trim horizon."""
        given = {"consumer": CONSUMERS[self.mode], **options}
        return source_of(self.endpoint, self.name, **given)

    def sink(self, **options: Any) -> KinesisSink:
        """A sink into this stream, or without a stream if `stream_name` is ``None``."""
        given = {"stream_name": self.name, **options}
        return KinesisSink(region=REGION, endpoint=self.endpoint, credentials=LOCAL, **given)

    def environment(self) -> dict[str, str]:
        """The variables that lead a program of the AWS SDK to the stream."""
        return {
            "AWS_ENDPOINT_URL_KINESIS": self.endpoint,
            "AWS_ACCESS_KEY_ID": LOCAL.access_key_id,
            "AWS_SECRET_ACCESS_KEY": LOCAL.secret_access_key,
        }

    def wait_active(self) -> None:
        """Wait until a change of the stream is complete."""
        wait_for(f"{self.name} is active", lambda: self._status() == "ACTIVE")

    def _status(self) -> str:
        summary = self.client.describe_stream_summary(StreamName=self.name)
        return str(summary["StreamDescriptionSummary"]["StreamStatus"])

    def put(self, count: int, keys: tuple[str, ...] = KEYS) -> None:
        """Write numbered records with keys in rotation.

        A request holds a key once, and is complete before the next: whatever is throttled and
        sent again, each key's records are written in the order of their numbers.
        """
        for first in range(0, count, len(keys)):
            batch = []
            for key in keys[: count - first]:
                batch.append(Written(key, self._next[key]))
                self._next[key] += 1
            self.send(batch)
            self.written += batch

    def send(self, rows: list[Written]) -> None:
        """Write rows in one request, and do not count them as written."""
        self._send(
            [
                {"PartitionKey": w.key, "Data": json.dumps({"key": w.key, "n": w.n}).encode()}
                for w in rows
            ]
        )

    def put_raw(self, data: bytes, key: str) -> None:
        """Write one record without a number."""
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
        """The open shards, by hash key."""
        shards = self.all_shards()
        is_open = [s for s in shards if "EndingSequenceNumber" not in s["SequenceNumberRange"]]
        return sorted(is_open, key=lambda s: int(s["HashKeyRange"]["StartingHashKey"]))

    def all_shards(self) -> list[dict[str, Any]]:
        """All shards that the stream lists."""
        pages = self.client.get_paginator("list_shards").paginate(StreamName=self.name)
        return [shard for page in pages for shard in page["Shards"]]

    def split(self, index: int = 0) -> None:
        """Split an open shard in half."""
        shard = self.open_shards()[index]
        bounds = shard["HashKeyRange"]
        middle = (int(bounds["StartingHashKey"]) + int(bounds["EndingHashKey"])) // 2
        self.client.split_shard(
            StreamName=self.name, ShardToSplit=shard["ShardId"], NewStartingHashKey=str(middle)
        )
        self.wait_active()

    def merge(self, index: int = 0) -> None:
        """Merge an open shard with the next one."""
        left, right = self.open_shards()[index : index + 2]
        self.client.merge_shards(
            StreamName=self.name,
            ShardToMerge=left["ShardId"],
            AdjacentShardToMerge=right["ShardId"],
        )
        self.wait_active()

    def fence(self) -> list[Written]:
        """Write a last record into every open shard. It arrives after all records before it."""
        fences = []
        for shard in self.open_shards():
            fence = Written(FENCE, next(FENCE_NUMBERS))
            data = json.dumps({"key": FENCE, "n": fence.n}).encode()
            hash_key = shard["HashKeyRange"]["StartingHashKey"]
            self._send([{"PartitionKey": FENCE, "Data": data, "ExplicitHashKey": hash_key}])
            fences.append(fence)
        return fences

    def read_all(self) -> list[tuple[str, bytes]]:
        """Partition key and data of all records, read with boto3."""
        return [(record["PartitionKey"], record["Data"]) for _, record in self.raw_records()]

    def raw_records(self) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        """All records, each with its shard, as boto3 returns them; parents before children."""
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
                found += [(shard, record) for record in page["Records"]]
                iterator = page.get("NextShardIterator")
                behind = bool(page["Records"]) or page["MillisBehindLatest"] > 0
        return found
