"""What Spark's progress says about a query."""

from __future__ import annotations

import json
from datetime import timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from spark_kinesis import SparkKinesisError
from spark_kinesis._offsets import (
    Progress,
    ShardOffset,
    SourceOffset,
    StreamOffset,
    encode,
)
from spark_kinesis._watch.forecast import Outlook
from spark_kinesis._watch.inside import InsideView, reports
from spark_kinesis._watch.tree import State

from .given import ARN, DAY, NOW, after, ago, name

if TYPE_CHECKING:
    from spark_kinesis._watch.snapshot import Snapshot

OTHER = {"description": "RateStreamV2", "startOffset": 3, "endOffset": 4, "numInputRows": 9}


def offset(**shards: ShardOffset) -> Any:
    """An offset of the source as Spark's progress contains it."""
    named = {name(int(it[1:])): at for it, at in shards.items()}
    stream = StreamOffset(created="2026-01-01T00:00:00Z", shards=named)
    return json.loads(encode(SourceOffset(streams={ARN: stream})))


def progress(
    number: int,
    seconds_ago: float,
    start: Any,
    end: Any,
    *,
    rows: int = 0,
    ahead: Any = None,
    **metrics: int,
) -> dict[str, Any]:
    """A report of Spark."""
    return {
        "batchId": number,
        "timestamp": ago(seconds_ago).isoformat().replace("+00:00", "Z"),
        "durationMs": {"addBatch": 500, "triggerExecution": 600},
        "sources": [
            {
                "description": "Kinesis[orders]",
                "startOffset": start,
                "endOffset": end,
                "latestOffset": ahead or end,
                "numInputRows": rows,
                "metrics": {it: str(value) for it, value in metrics.items()},
            }
        ],
    }


class Query:
    """A query with made-up progress."""

    name, id = None, "an-id"

    def __init__(self, *recent: Any, is_busy: bool = False) -> None:
        self.isActive = True
        self.reports, self.asked_for_all = list(recent), 0
        self.status = {"message": "Waiting for data to arrive", "isDataAvailable": is_busy}
        self.failure: Exception | None = None

    @property
    def lastProgress(self) -> Any:  # noqa: N802 Spark's name
        return self.reports[-1] if self.reports else None

    @property
    def recentProgress(self) -> list[Any]:  # noqa: N802 Spark's name
        self.asked_for_all += 1
        return self.reports

    def exception(self) -> Exception | None:
        return self.failure


def look(query: Query, retention: timedelta | None = None) -> Snapshot:
    view = InsideView(query, retention=retention, now=lambda: NOW)  # type: ignore[arg-type]
    return view.look()


def test_a_query_at_the_tip_has_caught_up() -> None:
    one, two = offset(s0=after(1, ago(20))), offset(s0=after(2, ago(10)))
    first = progress(0, 19, None, one, rows=100)
    second = progress(1, 9, one, two, rows=100, maxFetchLagMs=0, fetchedRecords=200)
    idle = progress(2, 1, two, two, maxFetchLagMs=0, fetchedRecords=200, throttledRequests=3)
    found = look(Query(first, second, idle))
    assert found.forecast.outlook is Outlook.CAUGHT_UP
    (shard,) = found.shards
    assert (shard.lag, shard.records, shard.is_counted) == (timedelta(), 0, True)
    assert shard.arriving is None  # of one shard, Spark does not know
    assert found.totals.processed == pytest.approx(200 / 19)
    assert found.totals.arriving == pytest.approx(200 / 19)  # the speed is 1
    assert found.batch is not None
    assert (found.batch.number, found.batch.rows, found.batch.phases["addBatch"]) == (1, 100, 500)
    assert found.counters is not None
    assert (found.counters.fetched_records, found.counters.throttled_requests) == (200, 3)
    assert (found.query, found.status) == ("an-id", "Waiting for data to arrive")


def test_while_a_micro_batch_runs_records_wait() -> None:
    end = offset(s0=after(2, ago(10)))
    report = progress(0, 9, offset(s0=after(1, ago(20))), end, rows=5, maxFetchLagMs=0)
    (shard,) = look(Query(report, is_busy=True)).shards
    assert shard.lag == timedelta(seconds=10)


def test_a_backlog_that_was_read_ahead_is_a_lag() -> None:
    way = [offset(s0=after(it, ago(3600 - 15 * it)), s1=after(it, ago(5))) for it in range(5)]
    ahead = offset(s0=after(99, ago(10)), s1=after(4, ago(2)))
    found = look(
        Query(
            *(
                progress(
                    it,
                    50 - 10 * it,
                    way[it - 1],
                    way[it],
                    rows=300,
                    ahead=ahead,
                    maxFetchLagMs=9000,
                )
                for it in range(1, 5)
            )
        ),
        retention=DAY,
    )
    behind, other = found.shards
    assert behind.lag == timedelta(seconds=3540)
    assert behind.speed == pytest.approx(1.5)
    assert behind.expires == NOW + DAY - timedelta(seconds=3540)
    assert found.forecast.outlook is Outlook.CATCHES_UP
    # Nothing was read ahead of the other shard, but its lag is not known to be zero.
    assert (other.lag, other.records) == (timedelta(seconds=2), None)
    assert found.totals.records is not None
    assert not found.totals.is_counted


def test_a_busy_stream_does_not_hide_another_one() -> None:
    end = offset(s0=after(1, ago(50)))
    report = progress(0, 9, None, end, maxFetchLagMs=9000)
    report["sources"][0]["metrics"][f"maxFetchLagMs.{ARN}"] = "0"
    assert look(Query(report)).totals.lag == timedelta()


def test_splits_are_known_from_what_waited() -> None:
    finished = ShardOffset(progress=Progress.FINISHED)
    waits = ShardOffset(progress=Progress.TRIM_HORIZON, waits_for=(name(0),))
    start = offset(s0=after(1))
    split = offset(s0=finished, s1=waits, s2=waits)
    done = offset(s1=after(5), s2=after(6))
    found = look(Query(progress(0, 9, start, split), progress(1, 5, split, done)))
    assert [(it.shard, it.depth, it.state) for it in found.trees["orders"]] == [
        (name(0), 0, State.DONE),
        (name(1), 1, State.READING),
        (name(2), 1, State.READING),
    ]


def test_a_look_asks_for_the_last_report_and_the_view_keeps_the_others() -> None:
    way = [offset(s0=after(it, ago(110 - 10 * it))) for it in range(11)]
    query = Query(progress(1, 100, way[0], way[1], rows=10))
    view = InsideView(query, now=lambda: NOW)  # type: ignore[arg-type]
    view.look()
    assert query.asked_for_all == 1  # Which reports there were before is not known yet.
    for number in (2, 3, 5, 8, 10):  # The others end between two looks.
        query.reports = [progress(number, 110 - 10 * number, way[number - 1], way[number], rows=10)]
        found = view.look()
        view.look()
    assert query.asked_for_all == 1
    assert found.batch is not None
    assert (found.batch.number, found.batch.period) == (10, timedelta(seconds=10))
    assert found.totals.processed == pytest.approx(1)
    assert found.shards[0].speed == pytest.approx(1)


def with_watermark(seconds: int, lag: int, speed: float = 1.0) -> list[dict[str, Any]]:
    """A micro-batch of 100 rows after each period. The next one only moves the watermark."""
    way = [offset(s0=after(it, ago(lag + seconds * (10 - it) * speed))) for it in range(11)]
    found = []
    for number, (start, end) in enumerate(pairwise(way)):
        ended = seconds * (9 - number)
        found += [
            progress(2 * number, ended + 0.9, start, end, rows=100),
            progress(2 * number + 1, ended + 0.5, end, end),
            progress(2 * number + 2, ended + 0.1, end, end),  # waits for data
        ]
    return found


# All looks, the looks that see no micro-batch without data, and those that also miss data.
@pytest.mark.parametrize("seen", [slice(None), slice(None, None, 3), slice(None, None, 9)])
def test_a_micro_batch_without_data_is_no_part_of_the_rate(seen: slice) -> None:
    every = with_watermark(10, lag=0)
    query = Query(*every[:9])
    view = InsideView(query, now=lambda: NOW)  # type: ignore[arg-type]
    view.look()
    for report in every[9:][seen]:
        query.reports = [report]
        view.look()
    found = view.look()
    assert found.batch is not None
    assert found.batch.period is not None
    assert found.batch.period.total_seconds() == pytest.approx(10, rel=0.02)
    assert found.totals.processed is not None
    assert 9 < found.totals.processed < 13  # The first micro-batch began within the minute.


def test_a_micro_batch_of_another_source_is_no_part_of_the_rate() -> None:
    way = [offset(s0=after(it, ago(60 - 10 * it))) for it in range(6)]
    every = [
        report
        for it in range(1, 6)
        for report in (
            progress(3 * it, 60 - 10 * it, way[it - 1], way[it], rows=100),
            progress(3 * it + 1, 57 - 10 * it, way[it], way[it]),
            progress(3 * it + 2, 54 - 10 * it, way[it], way[it]),
        )
    ]
    found = look(Query(*every))
    assert found.totals.processed == pytest.approx(10)
    assert found.batch is not None
    assert found.batch.period == timedelta(seconds=10)


def test_a_watermark_makes_no_lag_of_two_periods_a_loss() -> None:
    found = look(Query(*with_watermark(60, lag=100, speed=0.9)), retention=DAY)
    assert found.totals.lag is not None
    assert found.totals.lag > timedelta(seconds=90)
    assert found.forecast.outlook is Outlook.CAUGHT_UP


def test_a_split_between_two_looks_is_seen() -> None:
    waits = ShardOffset(progress=Progress.TRIM_HORIZON, waits_for=(name(0),))
    way = [
        offset(s0=after(1)),
        offset(s0=ShardOffset(progress=Progress.FINISHED), s1=waits),
        offset(s1=after(5)),
        offset(s1=after(6)),
    ]
    every = [progress(it, 9 - it, way[it - 1] if it else None, way[it]) for it in range(4)]
    query = Query(every[0])
    view = InsideView(query, now=lambda: NOW)  # type: ignore[arg-type]
    view.look()
    query.reports = every
    assert [(it.shard, it.depth) for it in view.look().trees["orders"]] == [
        (name(0), 0),
        (name(1), 1),
    ]


def test_a_micro_batch_between_two_looks_is_the_latest_although_the_query_waits_since() -> None:
    way = [offset(s0=after(it, ago(30 - 10 * it))) for it in range(3)]
    every = [progress(it, 30 - 10 * it, way[it - 1], way[it]) for it in (1, 2)]
    query = Query(every[0])
    view = InsideView(query, now=lambda: NOW)  # type: ignore[arg-type]
    view.look()
    query.reports = [*every, progress(3, 5, way[2], way[2])]
    found = view.look()
    assert found.batch is not None
    assert found.batch.number == 2


def test_nothing_is_known_before_the_first_report() -> None:
    found = look(Query())
    assert (found.batch, found.counters, found.shards) == (None, None, ())
    assert found.forecast.outlook is Outlook.UNKNOWN


def test_a_failed_and_a_stopped_query_say_so() -> None:
    query = Query()
    query.isActive = False
    assert look(query).status == "Stopped"
    query.failure = ValueError("[KINESIS_DATA_LOSS] gone\nand more")
    assert look(query).status == "Failed: [KINESIS_DATA_LOSS] gone"


def test_the_source_must_be_clear() -> None:
    report = progress(0, 9, None, offset(s0=after(1)))
    report["sources"].insert(0, OTHER)
    assert len(reports([report], None)) == 1
    assert len(reports([report], 1)) == 1
    with pytest.raises(SparkKinesisError, match="numbers 1: there is no source 0"):
        reports([report], 0)
    report["sources"].append(report["sources"][1])
    with pytest.raises(SparkKinesisError, match=r"numbers 1, 2: name one with source="):
        reports([report], None)
    with pytest.raises(SparkKinesisError, match="numbers none"):
        reports([{**report, "sources": [OTHER]}], None)


def behind(left: int, lag: float = 7200, **more: int) -> Query:
    """A query that reads half as fast as records arrive. Its first unread record is 2 h old."""
    way = [offset(s0=after(it, ago(lag + 100 - 20 * it))) for it in range(5)]
    return Query(
        *(
            progress(it, 160.6 - 40 * it, way[it - 1], way[it], minMsToExpiry=left, **more)
            for it in range(1, 5)
        )
    )


@pytest.mark.parametrize("drift", [-1_000_000, 0, 1_000_000])
def test_the_progress_shows_how_long_the_stream_keeps_records(drift: int) -> None:
    found = look(behind(22 * 3_600_000 + drift))
    assert found.forecast.outlook is Outlook.LOSES_DATA
    (shard,) = found.shards
    assert shard.expires is not None
    assert shard.lag is not None
    assert shard.expires == NOW - shard.lag + DAY
    assert found.forecast.at is not None
    assert found.forecast.at > NOW + timedelta(hours=22)


def test_records_that_may_have_expired_are_a_loss() -> None:
    assert look(behind(0, lag=90_000)).forecast.outlook is Outlook.LOSES_DATA


def test_the_given_retention_counts() -> None:
    assert look(behind(22 * 3_600_000), timedelta(hours=1)).forecast.at == NOW


def test_the_retention_of_several_streams_is_unknown() -> None:
    query = behind(22 * 3_600_000)
    for report in query.reports:
        for place in ("startOffset", "endOffset", "latestOffset"):
            streams = report["sources"][0][place]["streams"]
            streams["arn:other"] = streams[ARN]
    assert look(query).forecast.outlook is Outlook.FALLS_BEHIND
