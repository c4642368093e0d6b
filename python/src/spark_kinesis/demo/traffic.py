"""Threads that write the log and read the results, with boto3."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config

from .access_log import Visitors

if TYPE_CHECKING:
    from spark_kinesis.local import LocalKinesis

    from .books import Books

PERIOD_SECONDS = 0.1  # 50 clients, 10 times per second: 500 lines per second
POLL_SECONDS = 0.2

Take = Callable[[bytes, float], None]


class Traffic:
    """Threads that write the log and read the results until ``close``.

    Args:
        kinesis: local Kinesis with all streams.
        log: name of the stream to write.
        books: books for the lines written.
        downstream: functions that take the records, by name of the stream to read.
    """

    def __init__(
        self, kinesis: LocalKinesis, log: str, books: Books, downstream: Mapping[str, Take]
    ) -> None:
        """Start the threads."""
        self._quiet, self._done = threading.Event(), threading.Event()
        self._pool = ThreadPoolExecutor(1 + len(downstream))
        self._writer = self._pool.submit(write_log, client_of(kinesis), log, books, self._quiet)
        self._readers = [
            self._pool.submit(read_all, client_of(kinesis), stream, take, self._done)
            for stream, take in downstream.items()
        ]

    def end_log(self) -> None:
        """Stop writing, and return when all lines written are in the books."""
        self._quiet.set()
        self._writer.result()

    def end_reading(self) -> None:
        """Return when all records of the streams are in the books."""
        self._done.set()
        for reader in self._readers:
            reader.result()

    def check(self) -> None:
        """Raise the error of a thread, if one failed."""
        for thread in (self._writer, *self._readers):
            if thread.done():
                thread.result()

    def close(self) -> None:
        """Stop the threads at once."""
        self._quiet.set()
        self._done.set()
        self._pool.shutdown()


def client_of(kinesis: LocalKinesis) -> Any:
    """A boto3 client, independent of the package's own classes."""
    access = kinesis.access
    return boto3.client(
        "kinesis",
        endpoint_url=access["endpoint"],
        region_name=access["region"],
        aws_access_key_id=access["credentials"].access_key_id,
        aws_secret_access_key=access["credentials"].secret_access_key,
        config=Config(proxies={}),  # the proxies of this machine are for other hosts
    )


def write_log(client: Any, stream: str, books: Books, quiet: threading.Event) -> None:
    """Write a line of every client at a steady rate until ``quiet`` is set.

    A request has one line per client and is written completely before the next, so that the lines
    of each client are in order even if one had to be sent again.
    """
    visitors = Visitors(random.Random(7))  # noqa: S311 made-up traffic, the same every time
    due = time.monotonic()
    while not quiet.wait(max(0.0, due - time.monotonic())):
        due += PERIOD_SECONDS
        left = visitors.ask(datetime.now(timezone.utc))
        while left:
            entries = [{"PartitionKey": r.client, "Data": r.line().encode()} for r in left]
            answers = client.put_records(StreamName=stream, Records=entries)["Records"]
            sent = list(zip(left, answers, strict=True))
            done = [((r.client, r.number), a["ShardId"]) for r, a in sent if "ShardId" in a]
            books.wrote(done, time.monotonic())
            left = [r for r, a in sent if "ShardId" not in a]


def read_all(client: Any, stream: str, take: Take, done: threading.Event) -> None:
    """Take all records of a stream without resharding, until ``done`` is set and none is left."""
    shards = client.list_shards(StreamName=stream)["Shards"]
    iterators = [_oldest(client, stream, shard["ShardId"]) for shard in shards]
    finished = False
    while not finished:
        finished = done.wait(POLL_SECONDS)
        pages = [client.get_records(ShardIterator=iterator) for iterator in iterators]
        iterators = [page["NextShardIterator"] for page in pages]
        for record in (record for page in pages for record in page["Records"]):
            take(record["Data"], time.monotonic())
            finished = False


def _oldest(client: Any, stream: str, shard: str) -> str:
    answer = client.get_shard_iterator(
        StreamName=stream, ShardId=shard, ShardIteratorType="TRIM_HORIZON"
    )
    return str(answer["ShardIterator"])
