"""Checks before the query starts: table, bus, streams, and the permissions to use them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable

from log_processing.alerts.entries import DETAIL_TYPE, SOURCE
from log_processing.delivery.aws_errors import error_code
from log_processing.delivery.clients import client

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .settings import Settings

_ATTEMPTS = 3
_DENIED = ("AccessDenied", "AccessDeniedException", "NotAuthorized", "UnauthorizedOperation")
_KEYS = {("pk", "HASH"), ("sk", "RANGE")}


class StartupError(Exception):
    """The job cannot work with its table, bus or streams. The message says what to change."""


def check_all(settings: Settings) -> None:
    """Check everything that the job uses. The calls change nothing.

    Raises:
        StartupError: with one line per problem.
    """
    problems = [*_table(settings), *_bus(settings), *_streams(settings)]
    if problems:
        raise StartupError("\n".join(problems))


def _table(settings: Settings) -> Iterator[str]:
    dynamodb = client("dynamodb", settings.region, settings.dynamodb_endpoint, attempts=_ATTEMPTS)
    name, what = settings.table, f"Table '{settings.table}'"
    problem, found = _call(what, "dynamodb:DescribeTable", dynamodb.describe_table, TableName=name)
    if problem:
        yield problem
        return
    if {(key["AttributeName"], key["KeyType"]) for key in found["Table"]["KeySchema"]} != _KEYS:
        yield f"{what} has other keys. It needs the partition key 'pk' and the sort key 'sk'."
        return
    types = {a["AttributeName"]: a["AttributeType"] for a in found["Table"]["AttributeDefinitions"]}
    if (types["pk"], types["sk"]) != ("S", "S"):
        yield f"{what}: the keys 'pk' and 'sk' must have the type S."
        return
    yield from _time_to_live(dynamodb, name)
    # Deletes an item that never exists: the only way to try the permission without a trace.
    nothing = {"DeleteRequest": {"Key": {"pk": {"S": "#check"}, "sk": {"S": "#check"}}}}
    action = "dynamodb:BatchWriteItem"
    problem, _ = _call(what, action, dynamodb.batch_write_item, RequestItems={name: [nothing]})
    if problem:
        yield problem


def _time_to_live(dynamodb: Any, table: str) -> Iterator[str]:
    what, action = f"Table '{table}'", "dynamodb:DescribeTimeToLive"
    problem, found = _call(what, action, dynamodb.describe_time_to_live, TableName=table)
    if problem:
        yield problem
        return
    time_to_live = found["TimeToLiveDescription"]
    is_on = time_to_live["TimeToLiveStatus"] in ("ENABLED", "ENABLING")
    if not is_on or time_to_live.get("AttributeName") != "expiresAt":
        yield f"{what} keeps events for ever. Enable its time to live with 'expiresAt'."


def _bus(settings: Settings) -> Iterator[str]:
    events = client("events", settings.region, settings.events_endpoint, attempts=_ATTEMPTS)
    what = f"Bus '{settings.bus}'"
    problem, _ = _call(
        what, "events:DescribeEventBus", events.describe_event_bus, Name=settings.bus
    )
    if problem:
        yield problem
        return
    # EventBridge refuses an entry without a detail, after it has checked the permission.
    entry = {"EventBusName": settings.bus, "Source": SOURCE, "DetailType": DETAIL_TYPE}
    problem, _ = _call(what, "events:PutEvents", events.put_events, is_valid=False, Entries=[entry])
    if problem:
        yield problem


def _streams(settings: Settings) -> Iterator[str]:
    kinesis = client("kinesis", settings.region, settings.kinesis_endpoint, attempts=_ATTEMPTS)
    for stream in settings.stream_names:
        describe = kinesis.describe_stream_summary
        action = "kinesis:DescribeStreamSummary"
        problem, _ = _call(f"Stream '{stream}'", action, describe, StreamName=stream)
        if problem:
            yield problem


def _call(
    what: str, action: str, call: Callable[..., Any], *, is_valid: bool = True, **request: Any
) -> tuple[str | None, Any]:
    """Make a call. Returns a problem or the answer.

    Args:
        what: kind and name of what it is about.
        action: action of IAM that it needs.
        call: method of a client.
        is_valid: whether the service should accept the request.
        request: arguments of the method.
    """
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 slow to load

    try:
        return None, call(**request)
    except ClientError as error:
        if error_code(error) in _DENIED:
            return f"{what}: access is denied. Allow {action} on it.", None
        if error_code(error) == "ResourceNotFoundException":
            return f"{what} does not exist. Check its name, the region and the account.", None
        return (f"{what}: {error}" if is_valid else None), None
    except BotoCoreError as error:
        return f"{what}: {action} failed: {error}", None
