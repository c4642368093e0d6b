"""What the job says if it cannot work."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import aws
import pytest
from botocore.exceptions import ClientError
from test_table import clock

from log_processing import startup_checks
from log_processing.delivery.clients import client
from log_processing.settings import Settings
from log_processing.startup_checks import StartupError, wait_until_ready


@pytest.fixture
def settings(moto: str) -> Settings:
    client("kinesis", "us-east-1", moto).create_stream(StreamName="orders", ShardCount=1)
    return Settings(
        table=aws.TABLE,
        streams="orders",
        bus=aws.BUS,
        checkpoint="c",
        bad_events="b",
        region="us-east-1",
        dynamodb_endpoint=moto,
        events_endpoint=moto,
        kinesis_endpoint=moto,
    )


def problems(settings: Settings) -> list[str]:
    with pytest.raises(StartupError) as error:
        wait_until_ready(settings, clock())
    return str(error.value).splitlines()


def test_nothing_changes_if_all_is_there(settings: Settings) -> None:
    wait_until_ready(settings, clock())
    assert aws.items(str(settings.dynamodb_endpoint)) == []
    assert aws.published(str(settings.events_endpoint)) == 0


def test_everything_that_is_missing_is_named_at_once(settings: Settings) -> None:
    missing = replace(settings, table="none", bus="no-bus", streams="orders,refunds")
    assert [problem.split(" does not exist")[0] for problem in problems(missing)] == [
        "Table 'none'",
        "Bus 'no-bus'",
        "Stream 'refunds'",
    ]


def test_a_table_with_other_keys_is_refused(settings: Settings) -> None:
    dynamodb = client("dynamodb", "us-east-1", str(settings.dynamodb_endpoint))
    dynamodb.create_table(
        TableName="other",
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    (problem,) = problems(replace(settings, table="other"))
    assert problem.startswith("Table 'other' has other keys. It needs")


def test_a_table_without_time_to_live_is_refused(settings: Settings) -> None:
    endpoint = str(settings.dynamodb_endpoint)
    aws.create_table(endpoint, "forever")
    client("dynamodb", "us-east-1", endpoint).update_time_to_live(
        TableName="forever",
        TimeToLiveSpecification={"Enabled": False, "AttributeName": "expiresAt"},
    )
    (problem,) = problems(replace(settings, table="forever"))
    assert problem == (
        "Time to live is off for table 'forever'. Enable it for the attribute 'expiresAt'."
    )


ACTIONS = {
    "describe_table": ("Table 'logs'", "dynamodb:DescribeTable"),
    "describe_time_to_live": ("Table 'logs'", "dynamodb:DescribeTimeToLive"),
    "batch_write_item": ("Table 'logs'", "dynamodb:BatchWriteItem"),
    "describe_event_bus": ("Bus 'alerts'", "events:DescribeEventBus"),
    "put_events": ("Bus 'alerts'", "events:PutEvents"),
    "describe_stream_summary": ("Stream 'orders'", "kinesis:DescribeStreamSummary"),
    "list_shards": ("Stream 'orders'", "kinesis:ListShards"),
    "get_shard_iterator": ("Stream 'orders'", "kinesis:GetShardIterator"),
    "get_records": ("Stream 'orders'", "kinesis:GetRecords"),
    "describe_stream_consumer": (
        "Consumer 'reader' of stream 'orders'",
        "kinesis:DescribeStreamConsumer",
    ),
}


def fail(
    monkeypatch: pytest.MonkeyPatch, method: str, code: str, failures: int = 1_000_000
) -> None:
    """Let a method of the clients fail some times."""
    left = iter(range(failures))

    class Failing:
        def __init__(self, real: Any) -> None:
            self._real = real

        def __getattr__(self, name: str) -> Any:
            is_failing = name == method and next(left, None) is not None
            return self._fail if is_failing else getattr(self._real, name)

        def _fail(self, **_: object) -> None:
            answer: Any = {"Error": {"Code": code, "Message": "no"}}
            raise ClientError(answer, method)

    monkeypatch.setattr(
        startup_checks, "client", lambda *args, **options: Failing(client(*args, **options))
    )


@pytest.mark.parametrize("method", ACTIONS)
def test_a_missing_permission_is_named(
    method: str, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail(monkeypatch, method, "AccessDeniedException")
    what, action = ACTIONS[method]
    denied = f"{what}: access is denied. Allow {action} on it."
    assert problems(replace(settings, consumer="reader")) == [denied]


def test_a_missing_permission_for_the_key_of_a_stream_is_named(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail(monkeypatch, "get_records", "KMSAccessDeniedException")
    assert problems(settings) == [
        "Stream 'orders': access to its KMS key is denied. Allow kms:Decrypt on the key."
    ]


def test_a_busy_shard_is_no_problem(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    fail(monkeypatch, "get_records", "ProvisionedThroughputExceededException")
    wait_until_ready(settings, clock())
    fail(monkeypatch, "get_records", "ExpiredIteratorException")
    (problem,) = problems(settings)
    assert problem.startswith("Stream 'orders': An error occurred (ExpiredIteratorException)")


def test_a_consumer_that_does_not_exist_yet_is_no_problem(settings: Settings) -> None:
    kinesis = client("kinesis", "us-east-1", str(settings.kinesis_endpoint))
    (arn,) = kinesis.list_streams()["StreamSummaries"]
    wait_until_ready(replace(settings, consumer="reader"), clock())
    assert kinesis.list_stream_consumers(StreamARN=arn["StreamARN"])["Consumers"] == []


def test_a_service_that_does_not_answer_is_named_in_the_end(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    away = replace(settings, events_endpoint="http://127.0.0.1:9", write_timeout=1)
    (problem,) = problems(away)
    assert problem.startswith("Bus 'alerts': events:DescribeEventBus failed: Could not connect")
    warnings = [it.message for it in caplog.records if it.levelname == "WARNING"]
    assert warnings == [f"{problem} Checked again, for 4 s at most."]


def test_the_start_waits_for_a_service_that_does_not_answer(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail(monkeypatch, "describe_table", "InternalServerError", failures=3)
    wait_until_ready(settings, clock())


def test_a_problem_that_stays_is_named_at_once(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail(monkeypatch, "describe_event_bus", "InternalException")
    waits = replace(clock(), sleep=lambda _: pytest.fail("it waited"))
    with pytest.raises(StartupError, match=r"(?s)Table 'none' does not exist.*InternalException"):
        wait_until_ready(replace(settings, table="none"), waits)
