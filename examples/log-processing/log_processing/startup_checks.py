"""Checks before the query starts: table, bus, streams, and the permissions to use them."""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING, Any

from log_processing.alerts.entries import DETAIL_TYPE, SOURCE
from log_processing.delivery.aws_errors import missing_setting
from log_processing.delivery.clients import client

from .checked_calls import ProblemError, checked, problems_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from log_processing.delivery.clock import Clock

    from .settings import Settings

_LOG = logging.getLogger(__name__)
_ATTEMPTS = 3
_KEYS = {("pk", "HASH"), ("sk", "RANGE")}
# Spark runs a task four times, and each time it repeats its writes for `--write-timeout`. The start
# waits for as long. Otherwise, restarts in an outage fail one after the other, and EMR gives up.
_TASK_ATTEMPTS = 4
_PAUSE_SECONDS = 10.0


class StartupError(Exception):
    """The job cannot work with its table, bus or streams. The message says what to change."""


def wait_until_ready(settings: Settings, clock: Clock) -> None:
    """Check everything that the job uses. The calls change nothing.

    A problem that may pass, such as a service that does not answer, is checked again.

    Args:
        settings: settings of the job.
        clock: time and random numbers of the pauses.

    Raises:
        StartupError: with one line per problem, if one will not pass, or has not passed after four
            times the ``--write-timeout``.
    """
    patience = _TASK_ATTEMPTS * settings.write_timeout
    begun = clock.now()
    while problems := _problems(settings):
        remaining = begun + patience - clock.now()
        if remaining <= 0 or not all(problem.may_pass for problem in problems):
            raise StartupError("\n".join(map(str, problems)))
        for problem in problems:
            _LOG.warning("%s Checked again, for %.0f s at most.", problem, remaining)
        clock.sleep(min(remaining, _PAUSE_SECONDS * (1 + clock.random()) / 2))


def _problems(settings: Settings) -> list[ProblemError]:
    from botocore.exceptions import BotoCoreError  # noqa: PLC0415 slow to load

    try:
        return [*_table(settings), *_bus(settings), *_streams(settings)]
    except BotoCoreError as error:  # no region, no credentials, or a client that cannot be made
        raise StartupError(missing_setting(error) or str(error)) from error


def _table(settings: Settings) -> list[ProblemError]:
    dynamodb = client("dynamodb", settings.region, settings.dynamodb_endpoint, attempts=_ATTEMPTS)
    of_keys, *others = (
        partial(check, dynamodb, settings.table) for check in (_keys, _time_to_live, _writing)
    )
    return problems_of(of_keys) or [it for check in others for it in problems_of(check)]


def _keys(dynamodb: Any, name: str) -> None:
    what, call = f"Table '{name}'", dynamodb.describe_table
    found = checked(what, "dynamodb:DescribeTable", call, TableName=name)["Table"]
    if {(key["AttributeName"], key["KeyType"]) for key in found["KeySchema"]} != _KEYS:
        raise ProblemError(
            f"{what} has other keys. It needs the partition key 'pk' and the sort key 'sk'."
        )
    types = {it["AttributeName"]: it["AttributeType"] for it in found["AttributeDefinitions"]}
    if (types["pk"], types["sk"]) != ("S", "S"):
        raise ProblemError(f"{what}: the keys 'pk' and 'sk' must have the type S.")


def _time_to_live(dynamodb: Any, name: str) -> None:
    what, call = f"Table '{name}'", dynamodb.describe_time_to_live
    found = checked(what, "dynamodb:DescribeTimeToLive", call, TableName=name)
    time_to_live = found["TimeToLiveDescription"]
    if time_to_live["TimeToLiveStatus"] not in ("ENABLED", "ENABLING"):
        raise ProblemError(
            f"Time to live is off for table '{name}'. Enable it for the attribute 'expiresAt'."
        )
    attribute = time_to_live.get("AttributeName")
    if attribute != "expiresAt":
        raise ProblemError(
            f"Time to live of table '{name}' is on for the attribute '{attribute}'. "
            "Enable it for the attribute 'expiresAt'."
        )


def _writing(dynamodb: Any, name: str) -> None:
    """Delete an item that never exists: the only way to try the permission without a trace."""
    nothing = {"DeleteRequest": {"Key": {"pk": {"S": "#check"}, "sk": {"S": "#check"}}}}
    action, call = "dynamodb:BatchWriteItem", dynamodb.batch_write_item
    checked(f"Table '{name}'", action, call, RequestItems={name: [nothing]})


def _bus(settings: Settings) -> list[ProblemError]:
    events = client("events", settings.region, settings.events_endpoint, attempts=_ATTEMPTS)
    found = partial(_bus_exists, events, settings.bus)
    return problems_of(found) or problems_of(partial(_publishing, events, settings.bus))


def _bus_exists(events: Any, name: str) -> None:
    checked(f"Bus '{name}'", "events:DescribeEventBus", events.describe_event_bus, Name=name)


def _publishing(events: Any, name: str) -> None:
    """Send an entry without a detail. EventBridge refuses it after it has checked permissions."""
    entry = {"EventBusName": name, "Source": SOURCE, "DetailType": DETAIL_TYPE}
    try:
        checked(f"Bus '{name}'", "events:PutEvents", events.put_events, Entries=[entry])
    except ProblemError as problem:
        if not problem.is_refused:
            raise


def _streams(settings: Settings) -> Iterator[ProblemError]:
    kinesis = client("kinesis", settings.region, settings.kinesis_endpoint, attempts=_ATTEMPTS)
    for stream in settings.stream_names:
        yield from _stream(kinesis, stream, settings.consumer)


def _stream(kinesis: Any, name: str, consumer: str | None) -> list[ProblemError]:
    try:
        arn = _stream_arn(kinesis, name)
    except ProblemError as problem:
        return [problem]
    checks = [partial(_reading, kinesis, name)]
    if consumer:
        checks.append(partial(_consumer, kinesis, name, arn, consumer))
    return [it for check in checks for it in problems_of(check)]


def _stream_arn(kinesis: Any, stream: str) -> str:
    action, call = "kinesis:DescribeStreamSummary", kinesis.describe_stream_summary
    answer = checked(f"Stream '{stream}'", action, call, StreamName=stream)
    return str(answer["StreamDescriptionSummary"]["StreamARN"])


def _reading(kinesis: Any, stream: str) -> None:
    """Read the end of one shard, as the query does. Other readers do not notice it."""
    what = f"Stream '{stream}'"
    try:
        call = kinesis.list_shards
        found = checked(what, "kinesis:ListShards", call, StreamName=stream, MaxResults=1)
        shard = {"StreamName": stream, "ShardId": found["Shards"][0]["ShardId"]}
        call, action = kinesis.get_shard_iterator, "kinesis:GetShardIterator"
        found = checked(what, action, call, **shard, ShardIteratorType="LATEST")
        call, iterator = kinesis.get_records, found["ShardIterator"]
        checked(what, "kinesis:GetRecords", call, ShardIterator=iterator, Limit=1)
    except ProblemError as problem:
        if not problem.may_pass:  # the query repeats a call that is throttled
            raise


def _consumer(kinesis: Any, stream: str, arn: str, name: str) -> None:
    """Look for the consumer. The query registers it if it does not exist."""
    what = f"Consumer '{name}' of stream '{stream}'"
    call, action = kinesis.describe_stream_consumer, "kinesis:DescribeStreamConsumer"
    try:
        checked(what, action, call, StreamARN=arn, ConsumerName=name)
    except ProblemError as problem:
        if not (problem.may_pass or problem.is_missing):
            raise
