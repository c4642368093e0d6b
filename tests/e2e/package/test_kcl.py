"""From a real application of the Kinesis Client Library to a query, and back."""

from __future__ import annotations

import json
from collections import Counter
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from aws_kinesis_agg.aggregator import RecordAggregator

from spark_kinesis._times import instant
from spark_kinesis.tools.cli import run
from tests.e2e.support.harness import Reading
from tests.e2e.support.kcl import Application, Processed, dynamodb_local, is_staged
from tests.e2e.support.streams import REGION, Stream, wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = [
    pytest.mark.slow,
    pytest.mark.long,  # an application takes minutes to begin and to end
    pytest.mark.service,
    pytest.mark.parametrize("kinesis", ["simulator"], indirect=True),
    pytest.mark.skipif(not is_staged("kcl-3"), reason="make test-all builds the applications"),
]
NAME = "orders-app"


@pytest.fixture(scope="module")
def dynamodb() -> Iterator[str]:
    """The endpoint of a DynamoDB Local."""
    with dynamodb_local() as endpoint:
        yield endpoint


class Moving:
    """A stream of aggregates, an application, and a query."""

    def __init__(self, kinesis: str, dynamodb: str, folder: Path) -> None:
        """One shard with nothing in it."""
        self.stream = Stream(kinesis, 1)
        self.dynamodb, self.folder = dynamodb, folder
        self.checkpoint = folder / "checkpoint"
        self.keys: list[str] = []

    def application(self, version: int, name: str, streams: str | None = None) -> Application:
        """The application of a version."""
        return Application(
            version=version,
            kinesis=self.stream.endpoint,
            dynamodb=self.dynamodb,
            name=name,
            streams=streams or self.stream.name,
        )

    def put(self, aggregates: int, rows: int) -> list[str]:
        """Write aggregates to each open shard. Returns the keys of their user records."""
        new: list[str] = []
        for shard in self.stream.open_shards():
            hash_key = shard["HashKeyRange"]["StartingHashKey"]
            for _ in range(aggregates):
                packed = RecordAggregator()
                for _ in range(rows):
                    new.append(f"key-{len(self.keys) + len(new)}")
                    packed.add_user_record(new[-1], "data", hash_key)
                record = packed.clear_and_get()
                self.stream.client.put_record(
                    StreamName=self.stream.name,
                    PartitionKey=new[-1],
                    ExplicitHashKey=hash_key,
                    Data=record.get_contents()[2],
                )
        self.keys += new
        return new

    def migrate(self, *words: str) -> int:
        """Take over from the application, or hand back to it."""
        place = ["--checkpoint", str(self.checkpoint), "--region", REGION]
        endpoints = ["--endpoint", self.stream.endpoint, "--dynamodb-endpoint", self.dynamodb]
        return run(["migrate", *words, *place, *endpoints, "--yes"])

    def query(self, spark: SparkSession) -> list[str]:
        """The keys of the rows that the query returns until all is read."""
        rows: list[str] = []
        query = (
            Reading.of(self.stream)
            .read_stream(spark)
            .writeStream.foreachBatch(
                lambda frame, _: rows.extend(row["partitionKey"] for row in frame.collect())
            )
            .option("checkpointLocation", str(self.checkpoint))
            .trigger(availableNow=True)
            .start()
        )
        assert query.awaitTermination(180)
        return rows

    @property
    def begins(self) -> list[str]:
        """Where the new checkpoint begins in each shard of each stream."""
        text = (self.checkpoint / "sources/0/initial-offset.json").read_text()
        streams = json.loads(text)["streams"].values()
        return [it.partition("@")[0] for stream in streams for it in stream["shards"].values()]


@pytest.fixture
def moving(kinesis: str, dynamodb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Moving:
    monkeypatch.chdir(tmp_path)  # there the command keeps the old leases
    return Moving(kinesis, dynamodb, tmp_path)


def keys(processed: list[Processed]) -> list[str]:
    return [it.key for it in processed]


@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_query_takes_over_in_an_aggregate_and_hands_back(
    version: int,
    moving: Moving,
    spark: SparkSession,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    name = f"{NAME}-{version}"
    application = moving.application(version, name)
    moving.put(4, 3)
    moving.stream.split()
    moving.put(6, 4)
    # Twelve records of the parent, to its end; of each child four aggregates and half of the fifth.
    first = application.run(tmp_path / "first.log", per_shard=18, shards=3)
    assert len(first) == len(set(keys(first))) == 12 + 2 * 18

    assert moving.migrate("kcl", name, "--stream", moving.stream.name) == 0
    assert capsys.readouterr().out.count(": repeats 2 user records ") == 2
    rows = moving.query(spark)
    counts = Counter(keys(first)) + Counter(rows)
    assert set(counts) == set(moving.keys)
    again = [key for key, count in counts.items() if count > 1]
    assert len(rows) == len(set(rows))
    assert len(again) == 4, "the first two user records of the aggregate of each child"

    late = moving.put(2, 3)
    assert moving.migrate("to-kcl", name, "--watch", "4s") == 0
    second = application.run(tmp_path / "second.log", per_shard=6, shards=2)
    assert sorted(keys(second)) == sorted(late)


def begun(application: Application, log: Path, shards: int, position: str) -> None:
    """Let an application begin, and process nothing."""
    assert application.run(log, per_shard=0, shards=shards, position=position) == []


@pytest.mark.parametrize("version", [1, 2])
def test_an_application_that_has_read_nothing(version: int, moving: Moving, tmp_path: Path) -> None:
    name = f"{NAME}-time-{version}"
    application = moving.application(version, name)
    # Kinesis lists no shards for a time before the stream was created.
    created = moving.stream.client.describe_stream_summary(StreamName=moving.stream.name)
    begin = created["StreamDescriptionSummary"]["StreamCreationTimestamp"] + timedelta(seconds=1)
    wait_for("the time is over", lambda: datetime.now(timezone.utc) > begin)
    begun(application, tmp_path / "kcl.log", 1, str(int(begin.timestamp() * 1000)))
    stream = ["--stream", moving.stream.name]
    assert moving.migrate("kcl", name, *stream) == 2  # the leases do not contain the time
    assert moving.migrate("kcl", name, *stream, "--begin", begin.isoformat()) == 0
    assert moving.begins == [f"at:{instant(begin)}"]


def test_an_application_with_several_streams(moving: Moving, kinesis: str, tmp_path: Path) -> None:
    other = Stream(kinesis, 2)
    summaries: list[Any] = [
        it.client.describe_stream_summary(StreamName=it.name)["StreamDescriptionSummary"]
        for it in (moving.stream, other)
    ]
    names = [
        f"{it['StreamARN'].split(':')[4]}:{it['StreamName']}:"
        f"{int(it['StreamCreationTimestamp'].timestamp())}"
        for it in summaries
    ]
    name = f"{NAME}-several"
    moving.put(1, 1)
    begun(moving.application(3, name, ",".join(names)), tmp_path / "kcl.log", 3, "LATEST")
    assert moving.migrate("kcl", name) == 2  # the leases do not say which records were read
    assert moving.migrate("kcl", name, "--begin", "latest") == 0
    assert [it[:5] for it in moving.begins] == ["at:20"] * 3
    assert moving.migrate("to-kcl", name, "--watch", "4s") == 0
    table = boto3.client(
        "dynamodb",
        endpoint_url=moving.dynamodb,
        region_name=REGION,
        aws_access_key_id="local",
        aws_secret_access_key="local",
    ).scan(TableName=name)["Items"]
    assert {it["checkpoint"]["S"] for it in table if "checkpoint" in it} == {"AT_TIMESTAMP"}
