"""What the job says about its micro-batches: the items of its progress in the table."""

from __future__ import annotations

from typing import Any

from log_processing.progress import KnownBatches, Progress, batches_in, batches_request


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
        self._known = KnownBatches()

    def read(self) -> None:
        """Read new micro-batches."""
        request = batches_request(self._table, self._name, self._known.read_from_ms)
        for page in self._dynamodb.get_paginator("query").paginate(**request):
            self._known.add(batches_in(page))

    @property
    def records(self) -> int:
        """The number of Kinesis records in all of them."""
        return sum(batch.records for batch in self._known.in_order)

    @property
    def events(self) -> int:
        """The number of stored events in all of them."""
        return sum(batch.events for batch in self._known.in_order)

    @property
    def bad(self) -> int:
        """The number of bad events in all of them."""
        return sum(batch.bad for batch in self._known.in_order)

    @property
    def errors(self) -> int:
        """The number of errors in all of them."""
        return sum(batch.errors for batch in self._known.in_order)

    @property
    def latest(self) -> Progress | None:
        """The latest one that stored an event."""
        stored = [batch for batch in self._known.in_order if batch.latency is not None]
        return stored[-1] if stored else None
