"""A query that takes over from another consumer reads exactly what it should."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from spark_kinesis.tools.cli import run
from tests.dynamodb import dynamodb, lease_table, moto_server, put_lease
from tests.e2e.support.harness import Collector, running
from tests.e2e.support.streams import REGION, Stream, Written
from tests.e2e.support.verdict import assert_exactly_once_in_order

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.parametrize("kinesis", ["simulator"], indirect=True)


@dataclass
class OldConsumer:
    """Reads some records of each open shard with boto3, and exports where it stopped."""

    stream: Stream

    def read(self, count: int) -> dict[str, str]:
        """Read up to so many records of each shard. Returns the last one's number, by shard."""
        client, name = self.stream.client, self.stream.name
        last: dict[str, str] = {}
        for shard in self.stream.all_shards():
            iterator = client.get_shard_iterator(
                StreamName=name, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON"
            )["ShardIterator"]
            records = client.get_records(ShardIterator=iterator, Limit=count)["Records"]
            last[shard["ShardId"]] = records[-1]["SequenceNumber"]
        return last

    def unread(self, last: dict[str, str]) -> list[Written]:
        """The records after these positions."""
        found = []
        for shard, record in self.stream.raw_records():
            if int(record["SequenceNumber"]) > int(last.get(shard["ShardId"], "0")):
                body = json.loads(record["Data"])
                found.append(Written(body["key"], body["n"]))
        return found


@pytest.fixture
def moto() -> Iterator[str]:
    """The endpoint of a DynamoDB."""
    with moto_server() as endpoint:
        yield endpoint


def test_a_query_begins_where_an_application_stopped(
    spark: SparkSession, stream: Stream, checkpoint: Path, moto: str
) -> None:
    stream.put(100)
    stream.split()
    stream.put(200)
    client = dynamodb(moto)
    lease_table(client, "app")
    parent, other, child, _ = (it["ShardId"] for it in stream.all_shards())
    last = OldConsumer(stream).read(20)
    put_lease(client, "app", parent, "SHARD_END")
    put_lease(client, "app", other, last[other])
    put_lease(client, "app", child, last[child])
    every = {
        it["SequenceNumber"] for shard, it in stream.raw_records() if shard["ShardId"] == parent
    }
    done = {parent: max(every, key=int), other: last[other], child: last[child]}
    unread = OldConsumer(stream).unread(done)
    access = ["--endpoint", stream.endpoint, "--region", REGION, "--stream", stream.name]
    words = ["kcl", "app", "--dynamodb-endpoint", moto, "--yes", "--watch", "0s"]
    assert run(["migrate", *words, "--checkpoint", str(checkpoint), *access]) == 0
    collector = Collector()
    with running(spark, stream.source(), checkpoint, collector) as query:
        collector.wait(query, stream.fence())
    assert_exactly_once_in_order(unread, collector.numbered())
