"""`spark-kinesis migrate`, with the local Kinesis and moto's DynamoDB."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aws_kinesis_agg.aggregator import RecordAggregator

from spark_kinesis.tools.cli import run
from spark_kinesis.tools.facts.checkpoints import Checkpoint
from spark_kinesis.tools.facts.files import open_files
from spark_kinesis.tools.facts.streams import describe
from tests.dynamodb import TABLE, dynamodb, put_lease, single_table
from tests.simulator.commands.moving import FIRST, Moving

if TYPE_CHECKING:
    import pytest


def test_a_lease_becomes_the_position_of_a_new_query(
    moving: Moving, moto: str, table: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    put_lease(table, TABLE, FIRST, moving.numbers[3])
    assert moving.kcl(moto) == 0
    said = capsys.readouterr()
    joint, written = said.out.splitlines()
    stopped, first = moving.numbers[3:5]
    begin = f"continues; it stopped {stopped} (0); first record {first}, which arrived at 20"
    assert joint.startswith(f"{moving.name} {FIRST}: {begin}")
    assert written.startswith(f"Written: {moving.folder}.")
    assert f"delete {moving.folder}/sources/0/initial-offset.json, and start the other" in written
    assert moving.begins == {"0": moving.numbers[3]}


def test_the_single_table_of_kcl_35_has_other_items(moving: Moving, moto: str, table: Any) -> None:
    single_table(table, TABLE)
    put_lease(table, TABLE, "shardId-of-no-lease", "17", entityType={"S": "SOME_FUTURE_TYPE"})
    put_lease(table, TABLE, FIRST, moving.numbers[3], entityType={"S": "LEASE"})
    assert moving.kcl(moto) == 0
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
    assert moving.kcl(moto) == 0
    assert "repeats 2 user records" in capsys.readouterr().out
    assert moving.begins == {"0": f"from:{packed_number}"}


def test_a_reshard_is_followed(moving: Moving, moto: str, table: Any) -> None:
    moving.split()
    put_lease(table, TABLE, FIRST, "SHARD_END")
    put_lease(table, TABLE, "shardId-000000000001", "TRIM_HORIZON")
    assert moving.kcl(moto) == 0
    assert moving.begins == {"1": "trim_horizon", "2": "trim_horizon"}


def test_a_dry_run_writes_nothing(moving: Moving, moto: str, table: Any) -> None:
    put_lease(table, TABLE, FIRST, "TRIM_HORIZON")
    assert moving.kcl(moto, "--dry-run") == 0
    assert not moving.folder.exists()


def test_a_checkpoint_in_use_is_refused(
    moving: Moving, moto: str, table: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    put_lease(table, TABLE, FIRST, "AT_TIMESTAMP")
    assert moving.kcl(moto) == 2
    assert "--begin trim_horizon, latest or TIME" in capsys.readouterr().err
    assert moving.kcl(moto, "--begin", "10m") == 0
    assert moving.begins["0"].startswith("at:20")
    assert moving.kcl(moto, "--begin", "10m") == 2
    assert "belongs to a query that has begun" in capsys.readouterr().err


def test_an_application_with_several_streams(
    moving: Moving,
    moto: str,
    table: Any,
    make_stream: Callable[[int], str],
) -> None:
    other = describe(moving.client, make_stream(1))
    mine = describe(moving.client, moving.name)
    for it, checkpoint in ((mine, moving.numbers[3]), (other, "TRIM_HORIZON")):
        key = f"{it.arn.split(':')[4]}:{it.name}:{int(it.created.timestamp())}:{FIRST}"
        put_lease(table, TABLE, key, checkpoint)
    place = ["--checkpoint", str(moving.folder), "--endpoint", moving.endpoint]
    place += ["--yes", "--watch", "0s"]
    assert run(["migrate", "kcl", TABLE, "--dynamodb-endpoint", moto, *place]) == 0
    initial = Checkpoint(open_files(str(moving.folder))).initial("0")
    assert initial is not None
    assert set(initial.streams) == {mine.arn, other.arn}


def test_a_running_application_is_not_taken_over(
    moving: Moving,
    moto: str,
    table: Any,
    capsys: pytest.CaptureFixture[str],
    during_watch: Callable[[Callable[[], object]], None],
) -> None:
    put_lease(table, TABLE, FIRST, moving.numbers[3])
    during_watch(lambda: put_lease(table, TABLE, FIRST, moving.numbers[4]))
    assert moving.kcl(moto, "--watch", "500ms") == 2
    assert "a KCL application is running" in capsys.readouterr().err
    assert not moving.folder.exists()


def test_positions_of_awslabs_in_dynamodb(
    moving: Moving, moto: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    client = dynamodb(moto)
    names = ("metadataKey", "metadataSortKey")
    client.create_table(
        TableName="metadata",
        KeySchema=[
            {"AttributeName": name, "KeyType": kind}
            for name, kind in zip(names, ("HASH", "RANGE"), strict=True)
        ],
        AttributeDefinitions=[{"AttributeName": it, "AttributeType": "S"} for it in names],
        BillingMode="PAY_PER_REQUEST",
    )
    for batch, number in (("3", moving.numbers[2]), ("4", moving.numbers[5])):
        place = {"iteratorType": "AFTER_SEQUENCE_NUMBER", "iteratorPosition": number}
        item = dict(zip(names, ({"S": batch}, {"S": FIRST}), strict=True))
        item["metadataValue"] = {"S": json.dumps({**place, "shardId": FIRST, "isLast": True})}
        client.put_item(TableName="metadata", Item=item)
    old = tmp_path / "old"
    begun = {"iteratorType": "TRIM_HORIZON", "iteratorPosition": ""}
    head = {"batchId": "3", "streamName": moving.name}
    for name, text in (
        ("offsets/0", f"v1\n{{}}\n{json.dumps({'metadata': head, FIRST: begun})}"),
        ("commits/0", "v1\n{}"),
    ):
        (old / name).parent.mkdir(parents=True)
        (old / name).write_text(text)
    assert moving.migrate("awslabs", str(old)) == 2
    assert "with --dynamodb-table" in capsys.readouterr().err
    chosen = ["--dynamodb-table", "metadata", "--dynamodb-endpoint", moto]
    assert moving.migrate("awslabs", str(old), *chosen) == 0
    assert moving.begins == {"0": moving.numbers[2]}
    client.delete_table(TableName="metadata")


def test_no_checkpoint_is_written_unless_the_user_agreed(
    moving: Moving, moto: str, table: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    put_lease(table, TABLE, FIRST, "TRIM_HORIZON")
    place = ["--checkpoint", str(moving.folder), "--stream", moving.name, "--watch", "0s"]
    endpoints = ["--endpoint", moving.endpoint, "--dynamodb-endpoint", moto]
    assert run(["migrate", "kcl", TABLE, *place, *endpoints]) == 2
    said = capsys.readouterr()
    assert f"{FIRST}: begins" in said.out
    assert "--yes" in said.err
    assert not moving.folder.exists()
