"""`spark-kinesis migrate`, with the local Kinesis and moto's DynamoDB."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aws_kinesis_agg.aggregator import RecordAggregator

from spark_kinesis import FromKclTable, KinesisSource, MigrationError
from spark_kinesis.checkpoint import Checkpoint, open_files
from spark_kinesis.cli import run
from spark_kinesis.stream import describe
from tests.dynamodb import TABLE, put_lease

FIRST = "shardId-000000000000"


class Moving:
    """A stream with one shard and ten records, and the new checkpoint of a query."""

    def __init__(self, kinesis: Any, endpoint: str, name: str, folder: Path) -> None:
        self.client, self.endpoint, self.name = kinesis, endpoint, name
        self.folder = folder / "new"
        self.numbers = [self.put(f"record {number}".encode()) for number in range(10)]

    def put(self, data: bytes) -> str:
        answer = self.client.put_record(StreamName=self.name, PartitionKey="k", Data=data)
        return str(answer["SequenceNumber"])

    def split(self) -> None:
        self.client.split_shard(
            StreamName=self.name, ShardToSplit=FIRST, NewStartingHashKey=str(2**127)
        )
        self.client.get_waiter("stream_exists").wait(StreamName=self.name)

    def migrate(self, *words: str) -> int:
        place = ["--checkpoint", str(self.folder), "--stream", self.name]
        return run(["migrate", *words, *place, "--endpoint", self.endpoint])

    def kcl(self, moto: str, *words: str) -> int:
        return self.migrate("kcl", TABLE, "--dynamodb-endpoint", moto, *words)

    @property
    def begins(self) -> dict[str, str]:
        """The position in each shard of the new checkpoint, without the time after `@`."""
        _, start = Checkpoint(open_files(str(self.folder))).start()
        (stream,) = start.streams.values()
        return {name[-1]: it.text.partition("@")[0] for name, it in stream.shards.items()}


@pytest.fixture
def moving(
    kinesis: Any, endpoint: str, make_stream: Callable[[int], str], tmp_path: Path
) -> Moving:
    return Moving(kinesis, endpoint, make_stream(1), tmp_path)


def test_a_lease_becomes_the_position_of_a_new_query(
    moving: Moving, moto: str, table: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    put_lease(table, TABLE, FIRST, moving.numbers[3])
    assert moving.kcl(moto) == 0
    said = capsys.readouterr()
    joint, stopped, first, total = said.out.splitlines()
    assert joint == f"{moving.name} {FIRST}: continues"
    assert stopped.split() == ["it", "stopped", "after", moving.numbers[3], "(0)"]
    assert moving.numbers[4] in first
    assert total == f"{moving.name}: 1 shards to read, 0 already read"
    assert f"Written: {moving.folder}" in said.err
    assert moving.begins == {"0": moving.numbers[3]}


def test_a_query_that_names_its_sources_begins_there_too(
    moving: Moving, moto: str, table: Any
) -> None:
    put_lease(table, TABLE, FIRST, moving.numbers[3])
    assert moving.kcl(moto, "--source", "orders") == 0
    assert [it.name for it in (moving.folder / "sources").iterdir()] == ["orders"]
    assert moving.begins == {"0": moving.numbers[3]}


def test_the_checkpoint_names_the_stream_and_when_it_was_read(
    moving: Moving, moto: str, table: Any
) -> None:
    put_lease(table, TABLE, FIRST, moving.numbers[3])
    assert moving.kcl(moto) == 0
    text = json.loads((moving.folder / "sources/0/initial-offset.json").read_text())
    summary = describe(moving.client, moving.name)
    (arn,) = text["streams"]
    assert arn == summary.arn
    assert text["streams"][arn]["created"].startswith(f"{summary.created:%Y-%m-%dT%H:%M:%S}")
    assert text["streams"][arn]["shards"][FIRST].partition("@")[2].isdecimal()


def test_an_aggregate_that_was_read_in_part_comes_again(
    moving: Moving, moto: str, table: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    packed = RecordAggregator()
    for number in range(3):
        packed.add_user_record("k", f"row {number}", "1")
    packed_number = moving.put(packed.clear_and_get().get_contents()[2])
    put_lease(table, TABLE, FIRST, packed_number, sub=1)
    assert moving.kcl(moto, "--json") == 0
    (stream,) = json.loads(capsys.readouterr().out)["streams"]
    (shard,) = stream["shards"]
    assert (shard["joint"], shard["userRecordsAgain"]) == ("repeats", 2)
    assert moving.begins == {"0": f"from:{packed_number}"}


def test_a_reshard_is_followed(moving: Moving, moto: str, table: Any) -> None:
    moving.split()
    put_lease(table, TABLE, FIRST, "SHARD_END")
    put_lease(table, TABLE, "shardId-000000000001", "TRIM_HORIZON")
    assert moving.kcl(moto) == 0
    assert moving.begins == {"1": "trim_horizon", "2": "trim_horizon"}


def test_a_record_that_is_gone_is_a_loss(
    moving: Moving, moto: str, table: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    gone = str(int(moving.numbers[3]) + 1)
    put_lease(table, TABLE, FIRST, gone)
    assert moving.kcl(moto) == 1
    said = capsys.readouterr().err
    assert f"{FIRST}: record {gone} is gone" in said
    assert moving.numbers[4] in said
    assert "--allow-data-loss" in said
    assert not moving.folder.exists()
    assert moving.kcl(moto, "--allow-data-loss") == 0
    assert moving.begins == {"0": gone}


def test_a_dry_run_writes_nothing(moving: Moving, moto: str, table: Any) -> None:
    put_lease(table, TABLE, FIRST, "LATEST")
    assert moving.kcl(moto, "--dry-run") == 0
    assert not moving.folder.exists()


def test_a_checkpoint_in_use_is_refused(
    moving: Moving, moto: str, table: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    put_lease(table, TABLE, FIRST, "AT_TIMESTAMP")
    assert moving.kcl(moto) == 2
    assert "--at TIME" in capsys.readouterr().err
    assert moving.kcl(moto, "--at", "2026-01-02T03:04:05Z") == 0
    assert moving.begins == {"0": "at:2026-01-02T03:04:05Z"}
    assert moving.kcl(moto, "--at", "2026-01-02T03:04:05Z") == 2
    assert "belongs to a query that has begun" in capsys.readouterr().err


def test_a_stream_that_was_made_again_is_refused(
    moving: Moving, moto: str, table: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    early = int(describe(moving.client, moving.name).created.timestamp()) - 60
    key = f"123456789012:{moving.name}:{early}:{FIRST}"
    put_lease(table, TABLE, key, moving.numbers[3])
    assert moving.kcl(moto) == 2
    assert "it was deleted and created again" in capsys.readouterr().err


def test_an_application_with_several_streams(
    moving: Moving,
    moto: str,
    table: Any,
    make_stream: Callable[[int], str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    other = describe(moving.client, make_stream(1))
    mine = describe(moving.client, moving.name)
    for it, checkpoint in ((mine, moving.numbers[3]), (other, "TRIM_HORIZON")):
        key = f"{it.arn.split(':')[4]}:{it.name}:{int(it.created.timestamp())}:{FIRST}"
        put_lease(table, TABLE, key, checkpoint)
    place = ["--checkpoint", str(moving.folder), "--endpoint", moving.endpoint]
    assert run(["migrate", "kcl", TABLE, "--dynamodb-endpoint", moto, *place]) == 0
    initial = Checkpoint(open_files(str(moving.folder))).initial("0")
    assert initial is not None
    assert set(initial.streams) == {mine.arn, other.arn}
    assert len(capsys.readouterr().out.splitlines()) == 8


def test_positions_in_a_file(moving: Moving, tmp_path: Path) -> None:
    path = tmp_path / "positions.csv"
    path.write_text(f"shard,sequenceNumber\n{FIRST},{moving.numbers[8]}\n")
    assert moving.migrate("file", str(path)) == 0
    assert moving.begins == {"0": moving.numbers[8]}


def source(
    moving: Moving, moto: str, *, is_dictionary: bool = False, **options: Any
) -> KinesisSource:
    start: Any = FromKclTable(table=TABLE, dynamodb_endpoint=moto)
    if is_dictionary:
        start = {"kclTable": TABLE, "dynamodbEndpoint": moto}
    return KinesisSource(
        stream_name=moving.name,
        region="us-east-1",
        endpoint=moving.endpoint,
        starting_position=start,
        **options,
    )


@pytest.mark.parametrize("is_dictionary", [False, True])
def test_a_source_begins_where_the_application_stopped(
    moving: Moving, moto: str, table: Any, *, is_dictionary: bool
) -> None:
    moving.split()
    put_lease(table, TABLE, FIRST, "SHARD_END")
    put_lease(table, TABLE, "shardId-000000000001", "LATEST")
    begun = source(moving, moto, is_dictionary=is_dictionary)
    start = json.loads(begun.options()["startingPosition"])[moving.name]
    assert start.pop("shardId-000000000001").startswith("20")
    assert start == {
        FIRST: "latest",
        "shardId-000000000002": "trim_horizon",
        "*": "trim_horizon",
    }


def test_a_source_refuses_a_loss_unless_it_allows_it(moving: Moving, moto: str, table: Any) -> None:
    gone = str(int(moving.numbers[3]) + 1)
    put_lease(table, TABLE, FIRST, gone)
    with pytest.raises(MigrationError, match=f"{gone} is gone.*fail_on_data_loss"):
        source(moving, moto).options()
    start = source(moving, moto, fail_on_data_loss=False).options()["startingPosition"]
    assert json.loads(start)[moving.name][FIRST] == {"after": gone}
