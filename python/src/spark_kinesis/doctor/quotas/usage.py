"""Asks Amazon CloudWatch how much all readers of a stream have read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from spark_kinesis.tools.facts.cloudwatch import READ_BYTES, READS_REFUSED, Query, read_metrics

WINDOW = timedelta(minutes=15)
_CALLS = Query("GetRecords.Success")


@dataclass(frozen=True, kw_only=True)
class Usage:
    """What all polling readers together did in the last quarter of an hour.

    Attributes:
        calls: successful calls of ``GetRecords`` per second in the busiest minute.
        bytes: bytes per second that they returned in the busiest minute.
        total: all successful calls.
        throttled: calls that were refused.
    """

    calls: float
    bytes: float
    total: float
    throttled: float


def find_usage(cloudwatch: Any, stream: str, now: datetime) -> Usage:
    """Ask for the metrics of a stream.

    Args:
        cloudwatch: client of Amazon CloudWatch.
        stream: name of the stream.
        now: the time.

    Raises:
        botocore.exceptions.ClientError: if ``cloudwatch:GetMetricData`` is not allowed.
    """
    found = read_metrics(cloudwatch, stream, (_CALLS, READ_BYTES, READS_REFUSED), now - WINDOW, now)
    seconds = WINDOW.total_seconds()
    return Usage(
        calls=found[_CALLS].peak,
        bytes=found[READ_BYTES].peak,
        total=found[_CALLS].average * seconds,
        throttled=found[READS_REFUSED].average * seconds,
    )
