"""The events of a service in a span of time. Needs boto3 only.

from itertools import islice
from log_processing.query import events

latest = islice(events("log-processing", "checkout", start, end, newest_first=True), 50)
"""

from __future__ import annotations

import heapq
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from functools import partial
from typing import TYPE_CHECKING, Any

from .events import EPOCH
from .sending import client
from .table import BUCKETS, partition_key, time_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

HOUR = timedelta(hours=1)
PAGE_SIZE = 100  # events per request


def events(
    table: str,
    service: str,
    start: datetime,
    end: datetime,
    *,
    newest_first: bool = False,
    dynamodb: Any = None,
) -> Iterator[dict[str, Any]]:
    """The events of a service, in the order of their timestamps.

    The events of an hour are in 16 partitions, which are read in parallel and merged. An hour
    without events takes 16 requests. Later hours are read when you ask for more events.

    Args:
        table: name of the table.
        service: name of the service.
        start: time of the first event, with a time zone.
        end: time after the last event, with a time zone.
        newest_first: whether the latest event comes first. Default: the earliest.
        dynamodb: client of boto3. Default: ``client("dynamodb", attempts=10)``.

    Yields:
        The attributes of an event: ``timestamp``, ``level``, ``service``, ``message``, ``context``,
        and the numbers ``arrival`` and ``storedAt`` in milliseconds since 1970.

    Raises:
        ValueError: if a time has no time zone.
    """
    if start.tzinfo is None or end.tzinfo is None:
        raise ValueError("start and end need a time zone, such as datetime.now(timezone.utc)")
    dynamodb = dynamodb or client("dynamodb", attempts=10)
    first = start.astimezone(timezone.utc).replace(minute=0, second=0, microsecond=0)
    hours = [first + HOUR * number for number in range(-(-(end - first) // HOUR))]
    low, high = _text(start), _text(end)
    with ThreadPoolExecutor(BUCKETS) as pool:
        for hour in reversed(hours) if newest_first else hours:
            requests = [
                _request(table, partition_key(service, _text(hour)[:13], bucket), low, high)
                | {"ScanIndexForward": not newest_first}
                for bucket in range(BUCKETS)
            ]
            pages = list(pool.map(lambda it: dynamodb.query(**it), requests))
            buckets = map(partial(_bucket, dynamodb), requests, pages)
            merged = heapq.merge(*buckets, key=lambda it: str(it["sk"]["S"]), reverse=newest_first)
            yield from map(plain, merged)


def _request(table: str, key: str, low: str, high: str) -> dict[str, Any]:
    return {
        "TableName": table,
        "KeyConditionExpression": "pk = :pk AND sk BETWEEN :low AND :high",
        "ExpressionAttributeValues": {":pk": {"S": key}, ":low": {"S": low}, ":high": {"S": high}},
        "Limit": PAGE_SIZE,
    }


def _bucket(dynamodb: Any, request: Mapping[str, Any], page: Any) -> Iterator[Mapping[str, Any]]:
    while True:
        yield from page["Items"]
        if "LastEvaluatedKey" not in page:
            return
        page = dynamodb.query(**request, ExclusiveStartKey=page["LastEvaluatedKey"])


def plain(item: Mapping[str, Any]) -> dict[str, Any]:
    """An item without the types of DynamoDB's requests."""
    kinds: dict[str, Any] = {"S": str, "N": int, "M": plain}
    return {name: kinds[kind](it) for name, one in item.items() for kind, it in one.items()}


def _text(at: datetime) -> str:
    return time_text((at - EPOCH) // timedelta(microseconds=1))
