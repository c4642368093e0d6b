"""What the job says about its micro-batches: the items of its progress in the table."""

from __future__ import annotations

from typing import Any

from log_processing import progress
from log_processing.table.keys import progress_keys


class Batches:
    """The micro-batches so far."""

    def __init__(self, dynamodb: Any, table: str, name: str) -> None:
        """Read nothing yet.

        Args:
            dynamodb: boto3 client of DynamoDB.
            table: name of the table.
            name: name of the query.
        """
        self._dynamodb, self._table, self._name = dynamodb, table, name
        self._known: dict[int, progress.Progress] = {}

    def read(self) -> None:
        """Read new micro-batches, and again the last one, which may have been repeated."""
        partition, last = progress_keys(self._name, max(self._known, default=0))
        pages = self._dynamodb.get_paginator("query").paginate(
            TableName=self._table,
            KeyConditionExpression="pk = :pk AND sk >= :sk",
            ExpressionAttributeValues={":pk": {"S": partition}, ":sk": {"S": last}},
        )
        for page in pages:
            for item in page["Items"]:
                done = progress.from_json(item["progress"]["S"])
                self._known[done.batch] = done

    @property
    def records(self) -> int:
        """The number of Kinesis records in all of them."""
        return sum(batch.records for batch in self._known.values())

    @property
    def events(self) -> int:
        """The number of stored events in all of them."""
        return sum(batch.events for batch in self._known.values())

    @property
    def bad(self) -> int:
        """The number of bad events in all of them."""
        return sum(batch.bad for batch in self._known.values())

    @property
    def errors(self) -> int:
        """The number of errors in all of them."""
        return sum(batch.errors for batch in self._known.values())

    @property
    def latest(self) -> progress.Progress | None:
        """The latest one that stored an event."""
        stored = [batch for batch in self._known.values() if batch.latency is not None]
        return max(stored, key=lambda batch: batch.batch, default=None)
