"""Streams and consumers, with faults."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from spark_kinesis.local import LocalKinesis
from spark_kinesis.tools import doctor
from spark_kinesis.tools.examination import Report, State
from spark_kinesis.tools.facts.streams import describe
from tests.simulator.calls import client_of
from tests.simulator.commands.doctor.support import found, problems

if TYPE_CHECKING:
    from collections.abc import Callable


def test_a_good_stream_has_no_problem(look: Callable[..., Report]) -> None:
    report = look("orders")
    assert not problems(report), report
    assert found(report, "stream", "shards").seen == "2 open, 0 closed"
    assert "in mode PROVISIONED" in found(report, "stream", "status").seen
    assert found(report, "stream", "retention").seen == "records are kept for 1 d"


def test_an_unknown_stream_is_a_problem(look: Callable[..., Report]) -> None:
    status = found(look("orderz"), "stream", "status")
    assert status.state is State.PROBLEM
    assert "Check the name, the region" in status.remedy


@pytest.mark.parametrize(
    ("operation", "subject"),
    [("DescribeStreamSummary", "status"), ("ListShards", "shards")],
)
def test_a_denied_call_names_its_action(
    operation: str, subject: str, local: LocalKinesis, look: Callable[..., Report]
) -> None:
    with local.fault("access-denied", operation=operation):
        finding = found(look("orders"), "stream", subject)
    assert finding.state is State.PROBLEM
    assert f"Allow kinesis:{operation}" in finding.remedy


def test_expired_credentials_are_a_problem(
    local: LocalKinesis, look: Callable[..., Report]
) -> None:
    with local.fault("expired-token"):
        assert "Renew the credentials" in found(look("orders"), "stream", "status").remedy


def test_a_stream_that_does_not_answer_is_a_problem() -> None:
    report = doctor("orders", endpoint="http://127.0.0.1:1")
    assert "network" in found(report, "stream", "status").remedy


def test_closed_shards_and_settings_are_seen(
    local: LocalKinesis, look: Callable[..., Report]
) -> None:
    local.split("orders")
    client = client_of(local.endpoint)
    client.start_stream_encryption(StreamName="orders", EncryptionType="KMS", KeyId="alias/mine")
    report = look("orders")
    assert found(report, "stream", "shards").seen == "3 open, 1 closed"
    assert "alias/mine" in found(report, "stream", "encryption").seen


def test_a_stream_that_is_being_created_is_a_problem() -> None:
    with LocalKinesis(clock="simulated", change_time=timedelta(minutes=1)) as kinesis:
        client_of(kinesis.endpoint).create_stream(StreamName="late", ShardCount=1)
        status = found(doctor("late", endpoint=kinesis.endpoint), "stream", "status")
    assert (status.state, status.seen) == (State.PROBLEM, "stream late is CREATING")


def test_consumers_are_seen(local: LocalKinesis, look: Callable[..., Report]) -> None:
    client = client_of(local.endpoint)
    arn = describe(client, "orders").arn
    client.register_stream_consumer(StreamARN=arn, ConsumerName="reports")
    report = look("orders", consumer="reports")
    assert found(report, "stream", "consumer").state is State.OK
    other = found(look("orders", consumer="later"), "stream", "consumer")
    assert (other.state, "registers it" in other.seen) == (State.OK, True)
    gone = found(look("orders", consumer=f"{arn}/consumer/x:1"), "stream", "consumer")
    assert gone.state is State.PROBLEM
    with local.fault("access-denied", operation="DescribeStreamConsumer"):
        denied = found(look("orders", consumer="reports"), "stream", "consumer")
    assert "Allow kinesis:DescribeStreamConsumer" in denied.remedy
