"""How much of the read quota is in use, from answers made up."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from botocore.exceptions import ClientError

from python.tests.doctor.services import service
from spark_kinesis.doctor import State
from spark_kinesis.doctor.quotas import (
    Burst,
    Usage,
    burst_finding,
    find_usage,
    read_five_times,
    usage_finding,
)

ARN = "arn:aws:kinesis:eu-west-1:123456789012:stream/orders"
NOW = datetime(2026, 1, 2, 12, tzinfo=timezone.utc)
QUIET = Usage(calls=2.0, bytes=0.0, total=1000, throttled=0)


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


def test_the_busiest_minute_counts() -> None:
    cloudwatch = CloudWatch(
        {
            "GetRecords.Success": [60.0, 600.0, 120.0],
            "GetRecords.Bytes": [6e6],
            "ReadProvisionedThroughputExceeded": [3.0, 4.0],
        }
    )
    found = find_usage(cloudwatch.client, "orders", NOW)
    assert (found.calls, found.bytes) == (10.0, 1e5)
    assert (found.total, found.throttled) == pytest.approx((780.0, 7.0))
    assert cloudwatch.asked["EndTime"] - cloudwatch.asked["StartTime"] == timedelta(minutes=15)
    metrics = [it["MetricStat"]["Metric"] for it in cloudwatch.asked["MetricDataQueries"]]
    assert {it["Dimensions"][0]["Value"] for it in metrics} == {"orders"}


def test_a_stream_that_nobody_reads_has_no_metrics() -> None:
    assert find_usage(CloudWatch({}).client, "orders", NOW) == Usage(
        calls=0, bytes=0, total=0, throttled=0
    )


@pytest.mark.parametrize(
    ("usage", "shards", "state"),
    [
        (QUIET, 1, State.OK),
        (Usage(calls=3.9, bytes=0, total=9, throttled=0), 1, State.OK),
        (Usage(calls=4.0, bytes=0, total=9, throttled=0), 1, State.PROBLEM),
        (Usage(calls=4.0, bytes=0, total=9, throttled=0), 2, State.OK),
        (Usage(calls=1.0, bytes=1.7 * 2**20, total=9, throttled=0), 1, State.PROBLEM),
        (Usage(calls=1.0, bytes=0, total=1000, throttled=5), 1, State.OK),
        (Usage(calls=1.0, bytes=0, total=1000, throttled=50), 1, State.PROBLEM),
        (Usage(calls=0, bytes=0, total=0, throttled=0), 0, State.OK),
    ],
)
def test_a_quota_that_is_nearly_used_up_is_a_problem(
    usage: Usage, shards: int, state: State
) -> None:
    found = usage_finding(usage, shards)
    assert found.state is state
    assert bool(found.remedy) == (state is State.PROBLEM)


@pytest.mark.parametrize(
    ("refused", "state", "text"),
    [(0, State.OK, "no other reader"), (2, State.OK, "about 2 of"), (4, State.PROBLEM, "4 of 5")],
)
def test_refusals_are_reads_of_others(refused: int, state: State, text: str) -> None:
    found = burst_finding(Burst(shard="a", refused=refused))
    assert (found.state, text in found.seen) == (state, True)


def kinesis(*codes: str) -> Any:
    """A client that refuses the first of five reads with these errors."""
    refusals = [
        ClientError({"Error": {"Code": code, "Message": "No."}}, "GetRecords") for code in codes
    ]
    pages: list[Any] = [{"Records": []}] * (5 - len(codes))
    return service(
        "kinesis", get_shard_iterator={"ShardIterator": "i"}, get_records=[*refusals, *pages]
    )


def test_only_the_quota_counts_as_a_refusal() -> None:
    throttled = "ProvisionedThroughputExceededException"
    assert read_five_times(kinesis(throttled, throttled), ARN, "a") == Burst(shard="a", refused=2)
    other = kinesis(throttled, "AccessDeniedException")
    found = burst_finding(read_five_times(other, ARN, "a"))
    assert (found.state, "AccessDenied" in found.seen) == (State.UNKNOWN, True)
