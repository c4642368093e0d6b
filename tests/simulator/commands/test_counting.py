"""`spark-kinesis batches --count`, on records of the local Kinesis."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest

from spark_kinesis._offsets import Progress, ShardOffset
from spark_kinesis.tools.cli import run
from spark_kinesis.tools.facts.streams import describe
from spark_kinesis.tools.history import MAX_RECORDS, Count, ShardRead, count

if TYPE_CHECKING:
    from tests.simulator.commands.written import Query

SHARD = "shardId-000000000000"
NOW = datetime.now(timezone.utc)
HORIZON = NOW - timedelta(days=1)
START = ShardOffset(progress=Progress.TRIM_HORIZON)


class Written:
    """A stream of one shard with some records."""

    def __init__(self, kinesis: Any, name: str, records: int) -> None:
        self.client, self.name = kinesis, name
        self.arn = describe(kinesis, name).arn
        self.numbers = []
        for start in range(0, records, 500):
            entries = [
                {"PartitionKey": "k", "Data": b"12345"} for _ in range(min(500, records - start))
            ]
            answer = kinesis.put_records(StreamName=name, Records=entries)
            self.numbers += [int(it["SequenceNumber"]) for it in answer["Records"]]
        self.pauses: list[float] = []

    def count(self, start: ShardOffset, end: ShardOffset) -> Count:
        read = ShardRead(stream=self.arn, shard=SHARD, start=start, end=end)
        return count(self.client, read, self.pauses.append, lambda: HORIZON)

    def after(self, index: int, complete: datetime | None = NOW) -> ShardOffset:
        number = self.numbers[index]
        return ShardOffset(progress=Progress.AFTER, sequence_number=number, complete_as_of=complete)

    def first_batch(self, index: int) -> ShardOffset:
        """The end of a micro-batch that was the first to read the shard."""
        return replace(self.after(index), first=self.numbers[0])


@pytest.fixture
def written(kinesis: Any, make_stream: Callable[[int], str]) -> Written:
    return Written(kinesis, make_stream(1), 2 * MAX_RECORDS + 100)


def test_records_between_two_positions_are_counted(written: Written) -> None:
    assert written.count(START, written.first_batch(0)) == Count(1, 5)
    assert written.count(written.after(2), written.after(9)) == Count(7, 35)
    everything = written.count(START, written.first_batch(-1))
    assert everything == Count(len(written.numbers), 5 * len(written.numbers))
    assert written.pauses == [0.5] * 2  # of the third count, which has three pages


def test_a_shard_is_counted_to_its_end(written: Written) -> None:
    written.client.split_shard(
        StreamName=written.name, ShardToSplit=SHARD, NewStartingHashKey=str(2**127)
    )
    written.client.get_waiter("stream_exists").wait(StreamName=written.name)
    finished = ShardOffset(progress=Progress.FINISHED)
    assert written.count(written.after(-3), finished) == Count(2, 10)


def test_a_position_without_a_record_is_no_end(written: Written) -> None:
    with pytest.raises(ValueError, match="trim_horizon is not the end of a micro-batch"):
        written.count(START, START)


def test_records_that_are_gone_do_not_make_it_wait(written: Written) -> None:
    beyond = ShardOffset(progress=Progress.AFTER, sequence_number=written.numbers[-1] + 1)
    assert written.count(written.after(-2), beyond) == Count(1, 5, is_complete=False)


def test_a_count_is_complete_if_the_first_record_of_a_shard_is_still_there(
    written: Written,
) -> None:
    earlier = replace(written.after(3), first=written.numbers[0] - 1)
    assert written.count(START, earlier) == Count(4, 20, is_complete=False)
    assert written.count(START, written.after(3)) == Count(4, 20, is_complete=False)


@pytest.mark.parametrize("complete", [None, HORIZON, HORIZON - timedelta(days=1)])
def test_records_after_an_old_position_may_have_expired(
    written: Written, complete: datetime | None
) -> None:
    start = written.after(0, complete)
    assert written.count(start, written.after(3)) == Count(3, 15, is_complete=False)
    recent = written.after(0, HORIZON + timedelta(seconds=1))
    assert written.count(recent, written.after(3)) == Count(3, 15)


def test_an_empty_shard_is_counted(written: Written) -> None:
    written.client.split_shard(
        StreamName=written.name, ShardToSplit=SHARD, NewStartingHashKey=str(2**127)
    )
    written.client.get_waiter("stream_exists").wait(StreamName=written.name)
    children = ["shardId-000000000001", "shardId-000000000002"]
    written.client.merge_shards(
        StreamName=written.name, ShardToMerge=children[0], AdjacentShardToMerge=children[1]
    )
    written.client.get_waiter("stream_exists").wait(StreamName=written.name)
    finished = ShardOffset(progress=Progress.FINISHED)
    read = ShardRead(stream=written.arn, shard=children[0], start=START, end=finished)
    assert count(written.client, read, written.pauses.append, lambda: HORIZON) == Count(0, 0)


def test_an_expired_shard_has_no_records(written: Written) -> None:
    finished = ShardOffset(progress=Progress.FINISHED, first=7)
    read = ShardRead(stream=written.arn, shard="shardId-000000000099", start=START, end=finished)
    found = count(written.client, read, written.pauses.append, lambda: HORIZON)
    assert found == Count(0, 0, is_complete=False)


def test_the_command_says_that_records_have_expired(
    query: Query, capsys: pytest.CaptureFixture[str]
) -> None:
    query.put(5)
    numbers = [int(it.sequence_number) for it in query.kinesis.records("orders")]
    ends = [
        ShardOffset(
            progress=Progress.AFTER, sequence_number=numbers[it], complete_as_of=query.kinesis.now
        )
        for it in (1, 4)
    ]
    for end in ends:
        query.complete(s0=end)
    words = query.words("batches", "--batches", "1", "--count")
    assert run([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["records"], found["complete"]) == (3, True)
    query.kinesis.advance(timedelta(hours=25))
    assert run([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["records"], found["complete"]) == (0, False)
    assert run([*words, "--shards"]) == 0
    shown = capsys.readouterr().out
    assert shown.count("at least 0") == 3
    assert "some records have expired, or may have, of micro-batches 1" in shown
