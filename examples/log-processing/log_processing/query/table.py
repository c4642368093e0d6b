"""Reads the buckets of one hour of a service in parallel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any

from log_processing.table import keys

from .counting import MinuteLevel, count_events
from .merge import Fetch, Page, TableItem, read_bucket, sort_key

if TYPE_CHECKING:
    from .span import Span


class LogTable:
    """The table of the job. Its requests run in the threads of an executor."""

    def __init__(self, client: Any, name: str, executor: Executor) -> None:
        """Read nothing yet.

        Args:
            client: boto3 client of DynamoDB.
            name: name of the table.
            executor: bounds the number of parallel requests.
        """
        self.name = name
        self._client, self._executor = client, executor

    def read_hour(
        self, service: str, part: Span, *, newest_first: bool, page_size: int
    ) -> list[Iterator[TableItem]]:
        """The items of each bucket, in order.

        Args:
            service: name of the service.
            part: all of one hour or a part of it.
            newest_first: the order. With it, a page is read when it is needed. Without it, one
                page per bucket is read ahead.
            page_size: maximum number of items per request.
        """
        options = {"Limit": page_size, "ScanIndexForward": not newest_first}
        fetches = self._fetches(service, part, options)
        return [read_bucket(it, self._executor, ahead=not newest_first) for it in fetches]

    def count_hour(self, service: str, part: Span) -> Iterable[Counter[MinuteLevel]]:
        """The counts of each bucket of one hour, or of a part of it."""
        options = {
            "ProjectionExpression": "sk, #level",
            "ExpressionAttributeNames": {"#level": "level"},
        }
        return self._executor.map(count_bucket, self._fetches(service, part, options))

    def _fetches(self, service: str, part: Span, options: dict[str, Any]) -> list[Fetch]:
        hour = keys.hour_text(part.start)
        partitions = [keys.partition_key(service, hour, it) for it in range(keys.BUCKETS)]
        return [self._fetch(partition, part, options) for partition in partitions]

    def _fetch(self, partition: str, part: Span, options: dict[str, Any]) -> Fetch:
        """Reads pages of one bucket.

        A sort key is a time and more text. So it is never equal to a time, and BETWEEN leaves out
        the end of the span.
        """
        query = {
            "TableName": self.name,
            "KeyConditionExpression": "pk = :pk AND sk BETWEEN :start AND :end",
            "ExpressionAttributeValues": {
                ":pk": {"S": partition},
                ":start": {"S": keys.time_text(part.start)},
                ":end": {"S": keys.time_text(part.end)},
            },
            **options,
        }

        def fetch(last_key: TableItem | None) -> Page:
            start = {} if last_key is None else {"ExclusiveStartKey": last_key}
            answer = self._client.query(**query, **start)
            return Page(answer["Items"], answer.get("LastEvaluatedKey"))

        return fetch


def count_bucket(fetch: Fetch) -> Counter[MinuteLevel]:
    """Count the events of all pages of one bucket."""
    counts: Counter[MinuteLevel] = Counter()
    page = fetch(None)
    while True:
        counts.update(count_events((sort_key(it), it["level"]["S"]) for it in page.items))
        if page.last_key is None:
            return counts
        page = fetch(page.last_key)
