"""What the job says if it cannot work."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import aws
import pytest
from botocore.exceptions import ClientError

from log_processing import startup_checks
from log_processing.delivery.clients import client
from log_processing.settings import Settings
from log_processing.startup_checks import StartupError, check_all


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
        check_all(settings)
    return str(error.value).splitlines()


def test_nothing_changes_if_all_is_there(settings: Settings) -> None:
    check_all(settings)
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
    assert "Enable its time to live with 'expiresAt'" in problem


ACTIONS = {
    "describe_table": ("Table 'logs'", "dynamodb:DescribeTable"),
    "describe_time_to_live": ("Table 'logs'", "dynamodb:DescribeTimeToLive"),
    "batch_write_item": ("Table 'logs'", "dynamodb:BatchWriteItem"),
    "describe_event_bus": ("Bus 'alerts'", "events:DescribeEventBus"),
    "put_events": ("Bus 'alerts'", "events:PutEvents"),
    "describe_stream_summary": ("Stream 'orders'", "kinesis:DescribeStreamSummary"),
}


@pytest.mark.parametrize("method", ACTIONS)
def test_a_missing_permission_is_named(
    method: str, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Denying:
        def __init__(self, real: Any) -> None:
            self._real = real

        def __getattr__(self, name: str) -> Any:
            return self._deny if name == method else getattr(self._real, name)

        def _deny(self, **_: object) -> None:
            answer: Any = {"Error": {"Code": "AccessDeniedException", "Message": "no"}}
            raise ClientError(answer, method)

    monkeypatch.setattr(
        startup_checks, "client", lambda *args, **options: Denying(client(*args, **options))
    )
    what, action = ACTIONS[method]
    assert problems(settings) == [f"{what}: access is denied. Allow {action} on it."]


def test_a_service_that_does_not_answer_is_named(settings: Settings) -> None:
    away = replace(settings, events_endpoint="http://127.0.0.1:9")
    (problem,) = problems(away)
    assert problem.startswith("Bus 'alerts': events:DescribeEventBus failed: Could not connect")
