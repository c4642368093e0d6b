"""Permissions and quotas, with faults."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from spark_kinesis.tools.examination import Report, State
from spark_kinesis.tools.examination.finding import Setup
from spark_kinesis.tools.facts.streams import describe
from tests.simulator.calls import client_of
from tests.simulator.commands.doctor.support import found, put

if TYPE_CHECKING:
    from collections.abc import Callable

    from spark_kinesis.local import LocalKinesis


@pytest.mark.parametrize("operation", ["ListShards", "GetShardIterator", "GetRecords"])
def test_a_denied_read_is_a_missing_permission(
    operation: str, local: LocalKinesis, look: Callable[..., Report]
) -> None:
    with local.fault("access-denied", operation=operation):
        reads, writes = look("orders"), look("orders", uses=["write"])
    name = f"kinesis:{operation}"
    assert f"Allow {name}" in found(reads, "permissions", name).remedy
    of_writes = {it.subject for it in writes.problems if it.section == "permissions"}
    assert of_writes == ({name} if operation == "ListShards" else set())


def test_writes_cannot_be_proved_and_the_rest_is_proved(look: Callable[..., Report]) -> None:
    report = look("orders", uses=["read", "write"])
    permissions = {it.subject: it.state for it in report if it.section == "permissions"}
    assert [name for name, it in permissions.items() if it is State.UNKNOWN] == [
        "kinesis:PutRecords"
    ]


def test_an_encrypted_record_proves_that_the_key_may_be_used(
    local: LocalKinesis, look: Callable[..., Report]
) -> None:
    client = client_of(local.endpoint)
    client.start_stream_encryption(StreamName="orders", EncryptionType="KMS", KeyId="alias/mine")
    before = found(look("orders"), "permissions", "kms:Decrypt")
    assert (before.state, "no encrypted record" in before.seen) == (State.UNKNOWN, True)
    put(local, "encrypted")
    assert found(look("orders"), "permissions", "kms:Decrypt").state is State.OK
    with local.fault("kms-throttled", operation="GetRecords"):
        busy = found(look("orders"), "permissions", "kms:Decrypt")
    assert (busy.state, "KMSThrottling" in busy.seen) == (State.UNKNOWN, True)


def test_a_consumer_needs_more_permissions(
    local: LocalKinesis, look: Callable[..., Report]
) -> None:
    register = "kinesis:RegisterStreamConsumer"
    assert register not in {it.subject for it in look("orders")}
    new = look("orders", consumer="reports")
    assert found(new, "permissions", register).state is State.UNKNOWN
    assert found(new, "permissions", "kinesis:DescribeStreamConsumer").state is State.OK
    client = client_of(local.endpoint)
    arn = describe(client, "orders").arn
    client.register_stream_consumer(StreamARN=arn, ConsumerName="reports")
    with local.fault("access-denied", operation="DescribeStreamConsumer"):
        known = look("orders", consumer="reports")
    denied = found(known, "permissions", "kinesis:DescribeStreamConsumer")
    assert denied.state is State.PROBLEM


def test_cloudwatch_is_asked_for_the_quota(
    look: Callable[..., Report], monkeypatch: pytest.MonkeyPatch
) -> None:
    class CloudWatch:
        def get_metric_data(self, **asked: Any) -> dict[str, Any]:
            (calls,) = (
                it["Id"]
                for it in asked["MetricDataQueries"]
                if it["MetricStat"]["Metric"]["MetricName"] == "GetRecords.Success"
            )
            return {"MetricDataResults": [{"Id": calls, "Values": [540.0]}]}

        def get_caller_identity(self) -> dict[str, str]:
            return {"Arn": "arn:aws:iam::000000000000:user/ann"}

    monkeypatch.setattr(Setup, "is_aws", True)
    monkeypatch.setattr(Setup, "service", lambda *_: CloudWatch())
    report = look("orders")
    assert "user/ann" in found(report, "access", "identity").seen
    reads = found(report, "quota", "reads")
    assert (reads.state, "4.5 of 5 calls" in reads.seen) == (State.PROBLEM, True)
