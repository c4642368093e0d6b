"""What the progress of a query says about records that expire."""

from __future__ import annotations

from datetime import timedelta

import pytest

from spark_kinesis._watch.forecast import Outlook

from .given import ARN, DAY, NOW, after, ago
from .test_progress import Query, look, offset, progress


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
