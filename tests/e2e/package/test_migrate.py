"""A query that takes over from another consumer, or is moved, reads exactly what it should."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING

import pytest

from spark_kinesis import FromKclTable
from spark_kinesis.cli import run
from tests.dynamodb import dynamodb, lease_table, moto_server, put_lease
from tests.e2e.support.harness import Collector, running
from tests.e2e.support.streams import REGION, Stream, Written, wait_for
from tests.e2e.support.verdict import Collected, assert_exactly_once_in_order

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


def test_a_query_reads_exactly_what_another_consumer_left(
    spark: SparkSession, stream: Stream, checkpoint: Path, tmp_path: Path
) -> None:
    stream.put(200)
    last = OldConsumer(stream).read(30)
    stream.put(100)
    stream.split()
    stream.put(100)
    path = tmp_path / "positions.csv"
    rows = [f"{shard},{number}" for shard, number in last.items()]
    path.write_text("\n".join(["shard,sequenceNumber", *rows]))
    access = ["--endpoint", stream.endpoint, "--region", REGION, "--stream", stream.name]
    assert run(["migrate", "file", str(path), "--checkpoint", str(checkpoint), *access]) == 0
    unread = OldConsumer(stream).unread(last)
    assert len(unread) == 400 - 60
    collector = Collector()
    with running(spark, stream.source(starting_position="latest"), checkpoint, collector) as query:
        collector.wait(query, stream.fence())
    assert_exactly_once_in_order(unread, collector.numbered())


@pytest.fixture
def moto() -> Iterator[str]:
    """The endpoint of a DynamoDB."""
    with moto_server() as endpoint:
        yield endpoint


def test_a_source_begins_where_an_application_stopped(
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
    start = FromKclTable(table="app", dynamodb_endpoint=moto)
    collector = Collector()
    source = stream.source(starting_position=start)
    with running(spark, source, checkpoint, collector) as query:
        collector.wait(query, stream.fence())
    assert_exactly_once_in_order(unread, collector.numbered())


class Rewound:
    """A query over a stream that is stopped and moved."""

    def __init__(self, spark: SparkSession, stream: Stream, checkpoint: Path) -> None:
        """Nothing runs yet."""
        self.spark, self.stream, self.checkpoint = spark, stream, checkpoint

    def run(self) -> Collector:
        """Let the query read all records that have arrived."""
        collector = Collector()
        with running(self.spark, self.stream.source(), self.checkpoint, collector) as query:
            collector.wait(query, self.stream.fence())
            # The batch of the fence may be in the sink, and not yet in the log.
            wait_for("the last batch is completed", lambda: self.planned() == self.completed())
        return collector

    def planned(self) -> set[str]:
        """The numbers of the batches in the log."""
        return {it.name for it in (self.checkpoint / "offsets").glob("[0-9]*")}

    def completed(self) -> set[str]:
        """The numbers of the completed batches."""
        return {it.name for it in (self.checkpoint / "commits").glob("[0-9]*")}

    def rewind(self, to: str, *words: str) -> int:
        """Move the query."""
        access = ["--endpoint", self.stream.endpoint, "--region", REGION]
        return run(["rewind", "--checkpoint", str(self.checkpoint), "--to", to, *words, *access])

    def put(self, count: int) -> list[Written]:
        """Write records. Returns them."""
        before = len(self.stream.written)
        self.stream.put(count)
        return self.stream.written[before:]

    def now(self) -> str:
        """A time after all records written so far, and before all later ones."""
        time.sleep(1.1)  # the service's clock has milliseconds, and describes itself in seconds
        now = datetime.now(timezone.utc)
        time.sleep(0.1)
        return now.isoformat()


@pytest.fixture
def rewound(spark: SparkSession, stream: Stream, checkpoint: Path) -> Rewound:
    """A query that has read 80 records, a split, and 80 more."""
    made = Rewound(spark, stream, checkpoint)
    made.put(80)
    made.run()
    return made


def numbers(rows: list[Collected]) -> set[Written]:
    """The records without the fences."""
    return {Written(row.key, row.n) for row in rows}


def test_a_query_goes_back_to_a_time(rewound: Rewound) -> None:
    middle = rewound.now()
    rewound.stream.split()
    late = rewound.put(80)
    first = rewound.run()
    query_id = (rewound.checkpoint / "metadata").read_text()
    last_batch = max(map(int, rewound.completed()))
    assert rewound.rewind(middle) == 0
    again = rewound.run()
    assert_exactly_once_in_order(late, again.numbered())
    assert numbers(again.numbered()) == numbers(first.numbered())
    assert min(row.batch for row in again.rows) > last_batch
    assert sorted(map(int, rewound.planned())) == list(range(len(rewound.planned())))
    assert (rewound.checkpoint / "metadata").read_text() == query_id
    (folder,) = (rewound.checkpoint / "rewinds").iterdir()
    note = json.loads((folder / "note.json").read_text())
    (changes,) = note["streams"].values()
    assert {it["effect"] for it in changes if it["first"]} == {"again"}
    assert (folder / "offsets" / str(last_batch)).is_file()


def test_a_query_skips_to_the_newest_record(rewound: Rewound) -> None:
    rewound.put(80)
    rewound.stream.split()
    rewound.put(80)
    rewound.now()
    assert rewound.rewind("latest") == 0
    later = rewound.put(40)
    assert_exactly_once_in_order(later, rewound.run().numbered())


def test_one_shard_comes_again(rewound: Rewound) -> None:
    shard, other = (it["ShardId"] for it in rewound.stream.open_shards())
    rewound.stream.split(0)
    rewound.put(80)
    rewound.run()
    assert rewound.rewind("trim_horizon", "--shard", shard) == 0
    again = rewound.run().numbered()
    mine = [
        Written(**json.loads(record["Data"]))
        for it, record in rewound.stream.raw_records()
        if it["ShardId"] != other and b"fence" not in record["Data"]
    ]
    assert_exactly_once_in_order(mine, again)


def test_a_query_with_state_is_not_moved(
    spark: SparkSession, stream: Stream, checkpoint: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stream.put(10)
    counts = stream.source().read_stream(spark).groupBy("shardId").count()
    query = (
        counts.writeStream.outputMode("complete")
        .foreachBatch(lambda frame, _: frame.write.format("noop").mode("append").save())
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .start()
    )
    assert query.awaitTermination(180)
    assert Rewound(spark, stream, checkpoint).rewind("latest") == 2
    assert "keeps state" in capsys.readouterr().err
