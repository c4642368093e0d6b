"""Batch reads: the records of a stream between two positions."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

from tests.e2e.support.harness import Reading, collected
from tests.e2e.support.streams import Stream, wait_for
from tests.e2e.support.verdict import Collected, verdict

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

GOOD = {"lost": 0, "duplicated": 0, "out_of_order": 0, "foreign": 0}
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


@dataclass(frozen=True)
class Arrived:
    """A row, and the arrival time of its record."""

    row: Collected
    micros: int


def rows_of(frame: DataFrame) -> list[Arrived]:
    """The rows by shard, in the order of delivery."""
    timed = frame.selectExpr("*", "unix_micros(approximateArrivalTimestamp) AS micros")
    rows = [Arrived(collected(row, 0), row["micros"]) for row in timed.collect()]
    in_shards = sorted(rows, key=lambda it: it.row.shard)
    assert in_shards == sorted(rows, key=lambda it: (it.row.shard, it.row.sequence))
    return in_shards


def instant(micros: int) -> str:
    """A time as text for an option."""
    return (EPOCH + timedelta(microseconds=micros)).isoformat()


def put_in_generations(stream: Stream) -> None:
    """Write records before and after a split and a merge, in more than one millisecond."""
    stream.put(120)
    stream.split()
    stream.put(120)
    stream.merge()
    stream.put(120)


def test_a_batch_read_has_all_records_across_reshards(spark: SparkSession, stream: Stream) -> None:
    put_in_generations(stream)
    frame = Reading.of(stream).read(spark)
    assert frame.count() == len(stream.written)
    first = rows_of(frame)
    assert rows_of(frame) == first
    # A key is in order within each shard; shards are read in parallel.
    assert verdict(stream.written, [it.row for it in first]) | {"out_of_order": 0} == GOOD


def test_a_batch_read_from_one_time_to_another(spark: SparkSession, stream: Stream) -> None:
    put_in_generations(stream)
    rows = rows_of(Reading.of(stream).read(spark))
    times = sorted({it.micros for it in rows})
    first, last = times[len(times) // 4], times[len(times) * 3 // 4]
    source = Reading.of(stream, startingPosition=instant(first), endingPosition=instant(last))
    expected = [it for it in rows if first <= it.micros < last]
    assert expected
    assert len(expected) < len(rows)
    frame = source.read(spark)
    assert rows_of(frame) == expected
    stream.put(40)
    assert rows_of(frame) == expected, "what arrives later does not belong to it"
    assert frame.count() == len(expected)


def test_a_batch_read_from_one_record_to_another(spark: SparkSession, stream: Stream) -> None:
    put_in_generations(stream)
    rows = rows_of(Reading.of(stream).read(spark))
    shard = rows[0].row.shard
    own = [it for it in rows if it.row.shard == shard]
    name = shard.partition("/")[2]

    def at(kind: str, index: int, others: str) -> str:
        position = {kind: str(own[index].row.sequence)}
        return json.dumps({stream.name: {name: position, "*": others}})

    for kind, skipped in (("at", 2), ("after", 3)):
        source = Reading.of(
            stream,
            startingPosition=at(kind, 2, "trim_horizon"),
            endingPosition=at("at", -3, "latest"),
        )
        others = [it for it in rows if it.row.shard != shard]
        assert rows_of(source.read(spark)) == sorted(
            own[skipped:-2] + others, key=lambda it: (it.row.shard, it.row.sequence)
        )


def test_a_filter_on_arrival_time_keeps_exactly_later_rows(
    spark: SparkSession, stream: Stream
) -> None:
    put_in_generations(stream)
    frame = Reading.of(stream).read(spark)
    rows = rows_of(frame)
    middle = sorted(it.micros for it in rows)[len(rows) // 2]
    later = frame.where(f"approximateArrivalTimestamp > timestamp_micros({middle})")
    assert rows_of(later) == [it for it in rows if it.micros > middle]


def test_a_read_continues_where_another_ended(spark: SparkSession, stream: Stream) -> None:
    stream.put(80)
    rows = rows_of(Reading.of(stream).read(spark))
    border = instant(max(it.micros for it in rows))
    stream.put(80)
    wait_for(
        "all that was put can be read",
        lambda: Reading.of(stream).read(spark).count() == len(stream.written),
    )
    before = rows_of(Reading.of(stream, endingPosition=border).read(spark))
    behind = rows_of(Reading.of(stream, startingPosition=border).read(spark))
    assert verdict(stream.written, [it.row for it in before + behind])["duplicated"] == 0
    assert len(before) + len(behind) == len(stream.written)
