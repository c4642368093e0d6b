"""The metrics of a stream and of its shards in CloudWatch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

_NAMESPACE = "AWS/Kinesis"
_PERIOD_SECONDS = 60
_QUERIES = 500  # of a call of GetMetricData, which returns at most this number of points
_POINTS = 100_800


@dataclass(frozen=True, kw_only=True, slots=True)
class Series:
    """A metric over a time, per second."""

    peak: float = 0.0  # in the busiest minute
    average: float = 0.0  # in all minutes. A minute without data counts as 0.
    points: int = 0  # number of minutes with data


@dataclass(frozen=True, slots=True)
class Query:
    """A metric to ask for."""

    metric: str  # name of the metric
    shard: str | None = None  # ID of a shard; ``None`` for the whole stream
    statistic: str = "Sum"  # ``Sum`` or ``Maximum``


READ_BYTES = Query("GetRecords.Bytes")
READS_REFUSED = Query("ReadProvisionedThroughputExceeded")


def read_metrics(
    client: Any, stream: str, queries: Sequence[Query], begin: datetime, end: datetime
) -> Mapping[Query, Series]:
    """Ask CloudWatch for metrics per minute."""
    minutes = max(1, int((end - begin).total_seconds() / _PERIOD_SECONDS))
    size = max(1, min(_QUERIES, _POINTS // minutes))
    found: dict[Query, Series] = {}
    for first in range(0, len(queries), size):
        chunk = queries[first : first + size]
        values = _values(client, stream, chunk, begin, end)
        for query, points in zip(chunk, values, strict=True):
            scale = 1.0 if query.statistic == "Maximum" else 1 / _PERIOD_SECONDS
            found[query] = Series(
                peak=max(points, default=0.0) * scale,
                average=sum(points) * scale / minutes,
                points=len(points),
            )
    return found


def _values(
    client: Any, stream: str, queries: Sequence[Query], begin: datetime, end: datetime
) -> list[list[float]]:
    request: dict[str, Any] = {
        "MetricDataQueries": [_asked(number, stream, it) for number, it in enumerate(queries)],
        "StartTime": begin,
        "EndTime": end,
    }
    values: list[list[float]] = [[] for _ in queries]
    while True:
        answer = client.get_metric_data(**request)
        for result in answer["MetricDataResults"]:
            values[int(result["Id"][1:])] += result["Values"]
        if not answer.get("NextToken"):
            return values
        request["NextToken"] = answer["NextToken"]


def _asked(number: int, stream: str, query: Query) -> dict[str, Any]:
    names = {"StreamName": stream, **({"ShardId": query.shard} if query.shard else {})}
    return {
        "Id": f"m{number}",
        "MetricStat": {
            "Metric": {
                "Namespace": _NAMESPACE,
                "MetricName": query.metric,
                "Dimensions": [{"Name": key, "Value": value} for key, value in names.items()],
            },
            "Period": _PERIOD_SECONDS,
            "Stat": query.statistic,
        },
    }
