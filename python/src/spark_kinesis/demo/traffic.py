"""The demo's two ends, both a plain boto3: who writes the log, and who reads what came of it."""

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

PERIOD_SECONDS = 0.1  # 50 clients, 10 times a second: 500 lines/s
POLL_SECONDS = 0.2

Take = Callable[[bytes, float], None]


class Traffic:
    """Threads that write the log and read what comes of it, from the start to ``close``.

    Args:
        kinesis: where all the streams are.
        log: the stream to write.
        books: to note what was written.
        downstream: who takes the records of which stream.
    """

    def __init__(
        self, kinesis: LocalKinesis, log: str, books: Books, downstream: Mapping[str, Take]
    ) -> None:
        """Start them."""
        self._quiet, self._done = threading.Event(), threading.Event()
        self._pool = ThreadPoolExecutor(1 + len(downstream))
        self._writer = self._pool.submit(write_log, client_of(kinesis), log, books, self._quiet)
        self._readers = [
            self._pool.submit(read_all, client_of(kinesis), stream, take, self._done)
            for stream, take in downstream.items()
        ]

    def end_log(self) -> None:
        """Write no more; return when all that was written is in the books."""
        self._quiet.set()
        self._writer.result()

    def end_reading(self) -> None:
        """Return when all that is in the streams is in the books."""
        self._done.set()
        for reader in self._readers:
            reader.result()

    def check(self) -> None:
        """Raise what a thread failed with, if one did."""
        for thread in (self._writer, *self._readers):
            if thread.done():
                thread.result()

    def close(self) -> None:
        """Stop them, whatever is left to do."""
        self._quiet.set()
        self._done.set()
        self._pool.shutdown()


def client_of(kinesis: LocalKinesis) -> Any:
    """An independent Kinesis client."""
    access = kinesis.access
    return boto3.client(
        "kinesis",
        endpoint_url=access["endpoint"],
        region_name=access["region"],
        aws_access_key_id=access["credentials"].access_key_id,
        aws_secret_access_key=access["credentials"].secret_access_key,
        config=Config(proxies={}),  # this machine's proxy is for others
    )


def write_log(client: Any, stream: str, books: Books, quiet: threading.Event) -> None:
    """One line of every client, again and again, at a steady rate, until told to be quiet.

    A request holds each client once and is complete before the next, so that each client's lines
    are in the stream in their order even where one had to be sent again.
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
    """Take every record of a stream that is not resharded; when told it is done, the last ones."""
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
