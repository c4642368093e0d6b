"""`spark-kinesis batches --count`, on records of the local Kinesis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from spark_kinesis.batches.counting import MAX_RECORDS, Count, count
from spark_kinesis.batches.history import ShardRead
from spark_kinesis.checkpoint import Progress, ShardOffset
from spark_kinesis.stream import describe

SHARD = "shardId-000000000000"
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
        return count(self.client, read, self.pauses.append)

    def after(self, index: int) -> ShardOffset:
        return ShardOffset(progress=Progress.AFTER, sequence_number=self.numbers[index])


@pytest.fixture
def written(kinesis: Any, make_stream: Callable[[int], str]) -> Written:
    return Written(kinesis, make_stream(1), 2 * MAX_RECORDS + 100)


def test_records_between_two_positions_are_counted(written: Written) -> None:
    assert written.count(START, written.after(0)) == Count(1, 5)
    assert written.count(written.after(2), written.after(9)) == Count(7, 35)
    everything = written.count(START, written.after(-1))
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
    assert written.count(written.after(-2), beyond) == Count(1, 5)
