"""The retention period of a stream, from the progress of a query. No call is made for it."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from .model.lag import lag

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .model.facts import ShardFacts
    from .progress import Report

LEFT = "minMsToExpiry"
_HOUR = timedelta(hours=1)  # Kinesis keeps records for a whole number of hours


def retention_of(last: Report, shards: Iterable[ShardFacts]) -> timedelta | None:
    """How long the stream of a query keeps records.

    The source reports how long the oldest unread record is still kept. With the lag, this is the
    retention period.

    Args:
        last: the last report.
        shards: what is known about the shards.

    Returns:
        ``None`` if the report does not say it, or if the query reads several streams: their
        retention periods may differ.
    """
    left = last.metrics.get(LEFT)
    known = [it for it in (lag(each, last.ended) for each in shards) if it is not None]
    if left is None or not known or len(last.end.streams) != 1:
        return None
    if int(left) == 0:  # Records may have expired before, so the period is the lag at most.
        return max(known) // _HOUR * _HOUR
    found = timedelta(milliseconds=int(left)) + max(known)
    return (found + _HOUR / 2) // _HOUR * _HOUR
