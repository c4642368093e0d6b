"""What Spark's progress says about a query."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from spark_kinesis import SparkKinesisError
from spark_kinesis._offsets import (
    ShardOffset,
    SourceOffset,
    StreamOffset,
    encode,
)
from spark_kinesis._watch.inside import InsideView, reports
from spark_kinesis._watch.snapshot import Outlook

from .given import ARN, NOW, after, ago, name

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
    ahead: Any = None,
    **metrics: int,
) -> dict[str, Any]:
    """A report of Spark."""
    return {
        "batchId": number,
        "timestamp": ago(seconds_ago).isoformat().replace("+00:00", "Z"),
        "sources": [
            {
                "description": "Kinesis[orders]",
                "startOffset": start,
                "endOffset": end,
                "latestOffset": ahead or end,
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


def look(query: Query) -> Snapshot:
    return InsideView(query, now=lambda: NOW).look()  # type: ignore[arg-type]


def test_a_query_at_the_tip_has_caught_up() -> None:
    one, two = offset(s0=after(1, ago(20))), offset(s0=after(2, ago(10)))
    first = progress(0, 19, None, one)
    second = progress(1, 9, one, two, maxFetchLagMs=0)
    idle = progress(2, 1, two, two, maxFetchLagMs=0)
    found = look(Query(first, second, idle))
    assert found.forecast.outlook is Outlook.CAUGHT_UP
    assert [it.lag for it in found.shards] == [timedelta()]
    assert found.batch is not None
    assert (found.batch.number, found.batch.planned) == (1, ago(9))
    assert (found.query, found.status) == ("an-id", "Waiting for data to arrive")


def test_while_a_micro_batch_runs_records_wait() -> None:
    end = offset(s0=after(2, ago(10)))
    report = progress(0, 9, offset(s0=after(1, ago(20))), end, maxFetchLagMs=0)
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
                    ahead=ahead,
                    maxFetchLagMs=9000,
                )
                for it in range(1, 5)
            )
        )
    )
    behind, other = found.shards
    assert behind.lag == timedelta(seconds=3540)
    assert behind.speed == pytest.approx(1.5)
    assert found.forecast.outlook is Outlook.CATCHES_UP
    # Nothing was read ahead of the other shard, but its lag is not known to be zero.
    assert other.lag == timedelta(seconds=2)


def test_a_busy_stream_does_not_hide_another_one() -> None:
    end = offset(s0=after(1, ago(50)))
    report = progress(0, 9, None, end, maxFetchLagMs=9000)
    report["sources"][0]["metrics"][f"maxFetchLagMs.{ARN}"] = "0"
    assert look(Query(report)).lag == timedelta()


def test_a_look_asks_for_the_last_report_and_the_view_keeps_the_others() -> None:
    way = [offset(s0=after(it, ago(120 - 10 * it))) for it in range(11)]
    query = Query(progress(1, 100, way[0], way[1]))
    view = InsideView(query, now=lambda: NOW)  # type: ignore[arg-type]
    view.look()
    for number in (2, 3, 5, 8, 10):  # The others end between two looks.
        query.reports = [progress(number, 110 - 10 * number, way[number - 1], way[number])]
        found = view.look()
        view.look()
    assert query.asked_for_all == 1  # Which reports there were before was not known.
    assert found.batch is not None
    assert found.batch.number == 10
    assert found.shards[0].speed == pytest.approx(1)


def test_a_micro_batch_without_data_is_no_stop() -> None:
    way = [offset(s0=after(it, ago(1300 - 600 * it))) for it in range(3)]
    every = [
        progress(2 * it + after_it, 1200 - 600 * it - after_it, way[it - 1 + after_it], way[it])
        for it in (1, 2)
        for after_it in (0, 1)  # The second one only moves a watermark.
    ]
    for seen in (every, [every[0], every[3]]):
        query = Query(seen[0])
        view = InsideView(query, now=lambda: NOW)  # type: ignore[arg-type]
        view.look()
        for report in seen[1:]:
            query.reports = [report]
            found = view.look()
        assert found.shards[0].speed == pytest.approx(1, rel=0.01)
        assert found.batch is not None
        assert found.batch.number >= 4


def test_a_report_of_spark_4_is_an_object_with_its_text() -> None:
    class Parsed(dict[str, Any]):
        """As pyspark's class: a dictionary with values of other types."""

        def __init__(self, report: dict[str, Any]) -> None:
            super().__init__(batchId=report["batchId"], sources=[])
            self.json = json.dumps(report)

    report = progress(3, 9, None, offset(s0=after(1)))
    assert reports([Parsed(report)], None) == reports([report], None)
    assert len(reports([report], None)) == 1


def test_nothing_is_known_before_the_first_report() -> None:
    found = look(Query())
    assert (found.batch, found.shards) == (None, ())
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
    with pytest.raises(
        SparkKinesisError, match=r"source=0 names no Kinesis source of the query.*numbers: 1$"
    ):
        reports([report], 0)
    report["sources"].append(report["sources"][1])
    with pytest.raises(SparkKinesisError, match=r"numbers: 1, 2$"):
        reports([report], None)
    with pytest.raises(SparkKinesisError, match=r"numbers: none$"):
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


def test_the_progress_shows_how_long_the_stream_keeps_records() -> None:
    found = look(behind(22 * 3_600_000))
    assert found.forecast.outlook is Outlook.LOSES_DATA
    # It is two hours behind, and one second more every two seconds.
    assert found.forecast.at is not None
    assert abs(found.forecast.at - NOW - timedelta(hours=44)) < timedelta(minutes=5)


def test_records_that_may_have_expired_are_a_loss() -> None:
    found = look(behind(0, lag=90_000)).forecast
    assert (found.outlook, found.at) == (Outlook.LOSES_DATA, NOW)


def test_the_retention_of_several_streams_is_unknown() -> None:
    query = behind(22 * 3_600_000)
    for report in query.reports:
        for place in ("startOffset", "endOffset", "latestOffset"):
            streams = report["sources"][0][place]["streams"]
            streams["arn:other"] = streams[ARN]
    found = look(query).forecast
    assert (found.outlook, found.at) == (Outlook.LOSES_DATA, None)
