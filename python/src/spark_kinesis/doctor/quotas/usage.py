"""Asks Amazon CloudWatch how much all readers of a stream have read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

WINDOW = timedelta(minutes=15)
_PERIOD_SECONDS = 60
# Sums per minute. AWS describes them in "Monitoring the Amazon Kinesis Data Streams service with
# Amazon CloudWatch".
_METRICS = {
    "calls": "GetRecords.Success",
    "bytes": "GetRecords.Bytes",
    "throttled": "ReadProvisionedThroughputExceeded",
}


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
    answer = cloudwatch.get_metric_data(
        MetricDataQueries=[_query(key, name, stream) for key, name in _METRICS.items()],
        StartTime=now - WINDOW,
        EndTime=now,
    )
    sums = {it["Id"]: list(it["Values"]) for it in answer["MetricDataResults"]}
    return Usage(
        calls=max(sums.get("calls", []), default=0) / _PERIOD_SECONDS,
        bytes=max(sums.get("bytes", []), default=0) / _PERIOD_SECONDS,
        total=sum(sums.get("calls", [])),
        throttled=sum(sums.get("throttled", [])),
    )


def _query(key: str, metric: str, stream: str) -> dict[str, Any]:
    return {
        "Id": key,
        "MetricStat": {
            "Metric": {
                "Namespace": "AWS/Kinesis",
                "MetricName": metric,
                "Dimensions": [{"Name": "StreamName", "Value": stream}],
            },
            "Period": _PERIOD_SECONDS,
            "Stat": "Sum",
        },
    }
