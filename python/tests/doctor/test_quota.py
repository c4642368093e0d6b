"""How much of the read quota is in use, from answers made up."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from python.tests.doctor.services import service
from spark_kinesis.tools.examination import Finding, State
from spark_kinesis.tools.examination.stream import usage_finding

NOW = datetime(2026, 1, 2, 12, tzinfo=timezone.utc)


class CloudWatch:
    """Gives sums by metric."""

    def __init__(self, sums: dict[str, list[float]]) -> None:
        self.sums = sums
        self.asked: dict[str, Any] = {}
        self.client = service("cloudwatch", get_metric_data=self.answer)

    def answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        self.asked = asked
        names = {
            it["Id"]: it["MetricStat"]["Metric"]["MetricName"] for it in asked["MetricDataQueries"]
        }
        found = [{"Id": it, "Values": self.sums.get(name, [])} for it, name in names.items()]
        return {"MetricDataResults": found}


def usage(
    reads: list[float], size: list[float], refused: list[float], shards: int = 1
) -> tuple[Finding, CloudWatch]:
    """The finding, from sums per minute."""
    cloudwatch = CloudWatch(
        {
            "GetRecords.Success": reads,
            "GetRecords.Bytes": size,
            "ReadProvisionedThroughputExceeded": refused,
        }
    )
    return usage_finding(cloudwatch.client, "orders", shards, NOW), cloudwatch


def test_the_busiest_minute_counts() -> None:
    found, cloudwatch = usage([60.0, 180.0, 120.0], [6e7], [3.0, 4.0])
    assert "used 3.0 of 5 calls and 0.95 of 2 MiB per second and shard" in found.seen
    assert "7 calls were refused" in found.seen
    assert cloudwatch.asked["EndTime"] - cloudwatch.asked["StartTime"] == timedelta(minutes=15)
    metrics = [it["MetricStat"]["Metric"] for it in cloudwatch.asked["MetricDataQueries"]]
    assert {it["Dimensions"][0]["Value"] for it in metrics} == {"orders"}


@pytest.mark.parametrize(
    ("reads", "size", "refused", "shards", "state"),
    [
        ([120.0], [], [], 1, State.OK),
        ([234.0], [], [], 1, State.OK),
        ([240.0], [], [], 1, State.PROBLEM),
        ([240.0], [], [], 2, State.OK),
        ([60.0], [1.7 * 2**20 * 60], [], 1, State.PROBLEM),
        ([100.0] * 10, [], [5.0], 1, State.OK),
        ([100.0] * 10, [], [50.0], 1, State.PROBLEM),
        ([], [], [], 0, State.OK),
    ],
)
def test_a_quota_that_is_nearly_used_up_is_a_problem(
    reads: list[float], size: list[float], refused: list[float], shards: int, state: State
) -> None:
    found, _ = usage(reads, size, refused, shards)
    assert found.state is state
    assert bool(found.remedy) == (state is State.PROBLEM)
