"""Positions that `spark-kinesis migrate to-kcl` cannot prove, or cannot write."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from spark_kinesis._offsets import Progress, ShardOffset
from spark_kinesis.tools.cli import run
from tests.dynamodb import TABLE, leases, put_lease

if TYPE_CHECKING:
    from tests.simulator.commands.written import Query

FIRST = "shardId-000000000000"
OLDEST = ShardOffset(progress=Progress.TRIM_HORIZON)
DAY = 86_400


class Leaving:
    """A query that has read three of six records."""

    def __init__(self, query: Query, moto: str, table: Any) -> None:
        self.query, self.moto, self.table = query, moto, table
        query.kinesis.advance(30 * DAY)  # the stream is older than its records
        self.began = query.put(6)
        iterator = query.client.get_shard_iterator(
            StreamName="orders", ShardId=FIRST, ShardIteratorType="TRIM_HORIZON"
        )["ShardIterator"]
        records = query.client.get_records(ShardIterator=iterator)["Records"]
        self.numbers = [int(it["SequenceNumber"]) for it in records]
        self.place = ShardOffset(
            progress=Progress.AFTER,
            sequence_number=self.numbers[2],
            complete_as_of=self.began + timedelta(seconds=2),
        )

    def complete(self, place: ShardOffset) -> None:
        """Complete a micro-batch that ends there in the first shard."""
        self.query.complete(s0=place, s1=OLDEST)

    def hand_back(self, *words: str) -> int:
        """Write the leases. Returns the exit code."""
        fast = ["--dynamodb-endpoint", self.moto, "--watch", "0s", "--yes"]
        fast += ["--backup", str(self.query.folder / "old-leases.jsonl")]
        first, *place = self.query.words("to-kcl", *fast, *words)
        return run(["migrate", first, TABLE, *place])


@pytest.fixture
def leaving(query: Query, moto: str, table: Any) -> Leaving:
    return Leaving(query, moto, table)


@pytest.mark.parametrize("kind", ["after", "from", "at"])
def test_unread_records_that_have_expired_are_a_loss(
    leaving: Leaving, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    place = {
        "after": leaving.place,
        "from": replace(leaving.place, progress=Progress.FROM),
        "at": ShardOffset(progress=Progress.AT, time=leaving.began.isoformat()),
    }[kind]
    leaving.complete(place)
    leaving.query.kinesis.advance(3 * DAY)
    assert leaving.hand_back() == 1
    said = capsys.readouterr()
    assert f"orders {FIRST}: LOST: " in said.out
    assert "may have expired" in said.out
    assert "--allow-data-loss" in said.err
    assert "Nothing was changed." in said.out
    assert leases(leaving.table, TABLE) == {}
    assert leaving.hand_back("--allow-data-loss") == 0
    assert FIRST in leases(leaving.table, TABLE)


def test_a_shard_without_records_for_long_has_lost_nothing(leaving: Leaving) -> None:
    leaving.query.kinesis.advance(3 * DAY)
    leaving.complete(replace(leaving.place, complete_as_of=leaving.query.kinesis.now))
    assert leaving.hand_back() == 0
    assert leases(leaving.table, TABLE)[FIRST] == (str(leaving.numbers[2]), 0)


def test_a_position_that_nobody_dated_needs_its_record(
    leaving: Leaving, capsys: pytest.CaptureFixture[str]
) -> None:
    undated = replace(leaving.place, complete_as_of=None)
    leaving.complete(undated)
    assert leaving.hand_back("--dry-run") == 0
    gone = leaving.numbers[2] + 1
    leaving.complete(replace(undated, sequence_number=gone))
    assert leaving.hand_back("--dry-run") == 1
    assert f"record {gone} is gone" in capsys.readouterr().out


def test_a_planned_micro_batch_may_come_again(
    leaving: Leaving, capsys: pytest.CaptureFixture[str]
) -> None:
    leaving.complete(leaving.place)
    leaving.complete(replace(leaving.place, sequence_number=leaving.numbers[4]))
    (leaving.query.folder / "commits/1").unlink()
    assert leaving.hand_back() == 0
    assert "Micro-batch 1 was planned and not completed" in capsys.readouterr().out


@pytest.mark.parametrize("missing", ["leaseCounter", "checkpoint"])
def test_an_item_that_is_no_whole_lease_is_named(
    leaving: Leaving, capsys: pytest.CaptureFixture[str], missing: str
) -> None:
    leaving.complete(leaving.place)
    put_lease(leaving.table, TABLE, FIRST, "17")
    leaving.table.update_item(
        TableName=TABLE, Key={"leaseKey": {"S": FIRST}}, UpdateExpression=f"REMOVE {missing}"
    )
    assert leaving.hand_back() == 2
    said = " ".join(capsys.readouterr().err.split())
    assert f"the lease {FIRST} in table {TABLE} has changed, or is not a whole one" in said
