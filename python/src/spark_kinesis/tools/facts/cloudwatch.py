"""The metrics of a stream in CloudWatch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

_PERIOD_SECONDS = 60


@dataclass(frozen=True, kw_only=True, slots=True)
class Series:
    """A metric over a time, per second."""

    peak: float = 0.0  # in the busiest minute
    average: float = 0.0  # in all minutes. A minute without data counts as 0.
    points: int = 0  # number of minutes with data


def read_metrics(
    client: Any, stream: str, metrics: Sequence[str], begin: datetime, end: datetime
) -> dict[str, Series]:
    """Ask CloudWatch for metrics by their names: their sums per minute."""
    minutes = max(1, int((end - begin).total_seconds() / _PERIOD_SECONDS))
    request: dict[str, Any] = {
        "MetricDataQueries": [_asked(number, stream, it) for number, it in enumerate(metrics)],
        "StartTime": begin,
        "EndTime": end,
    }
    values: list[list[float]] = [[] for _ in metrics]
    is_last = False
    while not is_last:
        answer = client.get_metric_data(**request)
        for result in answer["MetricDataResults"]:
            values[int(result["Id"][1:])] += result["Values"]
        request["NextToken"] = answer.get("NextToken")
        is_last = not request["NextToken"]
    return {
        metric: Series(
            peak=max(points, default=0.0) / _PERIOD_SECONDS,
            average=sum(points) / _PERIOD_SECONDS / minutes,
            points=len(points),
        )
        for metric, points in zip(metrics, values, strict=True)
    }


def _asked(number: int, stream: str, metric: str) -> dict[str, Any]:
    return {
        "Id": f"m{number}",
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
