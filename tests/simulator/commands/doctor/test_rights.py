"""Permissions and quotas, with faults."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from spark_kinesis.local import LocalKinesis
from spark_kinesis.tools import doctor
from spark_kinesis.tools.examination import Report, State
from spark_kinesis.tools.examination.setup import Setup
from spark_kinesis.tools.facts.streams import describe
from tests.simulator.calls import client_of
from tests.simulator.commands.doctor.support import found, problems, put

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize("operation", ["ListShards", "GetShardIterator", "GetRecords"])
def test_a_denied_read_is_a_missing_permission(
    operation: str, local: LocalKinesis, look: Callable[..., Report]
) -> None:
    with local.fault("access-denied", operation=operation):
        reads, writes = look("orders"), look("orders", uses=["write"])
    name = f"kinesis:{operation}"
    assert f"Allow {name}" in found(reads, "permissions", name).remedy
    is_for_writes = operation == "ListShards"
    state = found(writes, "permissions", name).state
    assert state is (State.PROBLEM if is_for_writes else State.UNKNOWN)


def test_writes_cannot_be_proved_and_the_rest_is_proved(look: Callable[..., Report]) -> None:
    permissions = {it.subject: it.state for it in look("orders") if it.section == "permissions"}
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
    assert "no consumer" in found(look("orders"), "permissions", register).seen
    new = look("orders", consumer="reports")
    assert found(new, "permissions", register).state is State.UNKNOWN
    assert found(new, "permissions", "kinesis:DescribeStreamConsumer").state is State.OK
    client = client_of(local.endpoint)
    arn = describe(client, "orders").arn
    client.register_stream_consumer(StreamARN=arn, ConsumerName="reports")
    with local.fault("access-denied", operation="DescribeStreamConsumer"):
        known = look("orders", consumer="reports")
    assert found(known, "permissions", register).seen == "not needed: the consumer exists"
    denied = found(known, "permissions", "kinesis:DescribeStreamConsumer")
    assert (denied.state, "on its consumer" in denied.remedy) == (State.PROBLEM, True)


def test_a_probe_counts_the_reads_of_others() -> None:
    with LocalKinesis(streams={"orders": 1}, quotas="aws") as kinesis:
        alone = found(doctor("orders", endpoint=kinesis.endpoint, probe=True), "quota", "reads")
        with kinesis.fault("throttle", operation="GetRecords", times=4):
            report = doctor("orders", endpoint=kinesis.endpoint, probe=True)
        unasked = found(doctor("orders", endpoint=kinesis.endpoint), "quota", "reads")
    assert (alone.state, "refused 0 of 5" in alone.seen) == (State.OK, True)
    shared = found(report, "quota", "reads")
    assert (shared.state, "other readers used about 4" in shared.seen) == (State.PROBLEM, True)
    assert (unasked.state, "--probe" in unasked.remedy) == (State.UNKNOWN, True)


class Aws:
    """The other services of AWS, with prepared answers."""

    def __init__(self, *, calls_per_minute: float, denied: str) -> None:
        self.calls_per_minute, self.denied = calls_per_minute, denied
        self.simulated: dict[str, list[str]] = {}

    def service(self, name: str, stream: str | None = None) -> Any:  # noqa: ARG002 as of Setup
        assert name in ("sts", "iam", "kms", "cloudwatch")
        return self

    def get_caller_identity(self) -> dict[str, str]:
        return {"Arn": "arn:aws:iam::000000000000:user/ann"}

    def describe_key(self, KeyId: str) -> dict[str, Any]:  # noqa: N803 boto3's name
        return {"KeyMetadata": {"Arn": f"arn:key/{KeyId}", "KeyState": "Disabled"}}

    def get_metric_data(self, **asked: Any) -> dict[str, Any]:
        (calls,) = (
            it["Id"]
            for it in asked["MetricDataQueries"]
            if it["MetricStat"]["Metric"]["MetricName"] == "GetRecords.Success"
        )
        return {"MetricDataResults": [{"Id": calls, "Values": [self.calls_per_minute]}]}

    def get_paginator(self, _: str) -> Any:
        return self

    def paginate(self, **asked: Any) -> list[dict[str, Any]]:
        assert asked["PolicySourceArn"] == "arn:aws:iam::000000000000:user/ann"
        (resource,) = asked["ResourceArns"]
        self.simulated[resource] = asked["ActionNames"]
        decisions = dict.fromkeys(asked["ActionNames"], "allowed")
        decisions[self.denied] = "implicitDeny"
        results = [{"EvalActionName": n, "EvalDecision": it} for n, it in decisions.items()]
        return [{"EvaluationResults": results}]


def test_the_other_services_of_aws_are_asked(
    local: LocalKinesis, look: Callable[..., Report], monkeypatch: pytest.MonkeyPatch
) -> None:
    aws = Aws(calls_per_minute=540, denied="kinesis:PutRecords")
    monkeypatch.setattr(Setup, "is_aws", True)
    monkeypatch.setattr(Setup, "service", lambda _, *words: aws.service(*words))
    client = client_of(local.endpoint)
    client.start_stream_encryption(StreamName="orders", EncryptionType="KMS", KeyId="alias/mine")
    report = look("orders", uses=["write"], consumer="reports")
    arn = describe(client, "orders").arn
    assert aws.simulated == {
        arn: ["kinesis:RegisterStreamConsumer", "kinesis:PutRecords"],
        f"{arn}/consumer/reports:1": ["kinesis:SubscribeToShard"],
        "arn:key/alias/mine": ["kms:Decrypt", "kms:GenerateDataKey"],
    }
    assert "user/ann" in found(report, "access", "identity").seen
    assert {it.subject for it in problems(report)} == {"key", "reads", "kinesis:PutRecords"}
    assert "4.5 of 5 calls" in found(report, "quota", "reads").seen
    assert "Disabled" in found(report, "stream", "key").seen
