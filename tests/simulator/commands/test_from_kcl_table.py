"""A lease table as the starting position of a source."""

from __future__ import annotations

import json
from typing import Any

import pytest

from spark_kinesis import FromKclTable, KinesisSource, MigrationError
from tests.dynamodb import TABLE, put_lease
from tests.simulator.commands.moving import FIRST, Moving


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
    moving.client.put_record(
        StreamName=moving.name, PartitionKey="k", ExplicitHashKey="0", Data=b"unread"
    )
    moving.age()
    put_lease(table, TABLE, FIRST, "SHARD_END")
    put_lease(table, TABLE, "shardId-000000000001", "LATEST")
    with pytest.raises(MigrationError, match=r"begin with new records.*at of FromKclTable"):
        source(moving, moto, is_dictionary=is_dictionary).options()
    begun = source(moving, moto, is_dictionary=is_dictionary, fail_on_data_loss=False)
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
    advice = "If the query has a checkpoint, remove FromKclTable"
    with pytest.raises(MigrationError, match=f"{gone} is gone.*fail_on_data_loss.*{advice}"):
        source(moving, moto).options()
    start = source(moving, moto, fail_on_data_loss=False).options()["startingPosition"]
    assert json.loads(start)[moving.name][FIRST] == {"after": gone}


def test_a_source_without_its_table_says_that_a_checkpoint_needs_none(
    moving: Moving, moto: str
) -> None:
    advice = "If the query has a checkpoint, remove FromKclTable"
    with pytest.raises(MigrationError, match=f"there is no table {TABLE} .*{advice}"):
        source(moving, moto).options()
