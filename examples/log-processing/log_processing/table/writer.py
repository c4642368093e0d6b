"""Stores items with ``BatchWriteItem``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from log_processing.delivery.clock import now_ms
from log_processing.delivery.refusals import Refusal, deliver_valid
from log_processing.delivery.retry import Answer, deliver

from .items import Item, key_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from log_processing.delivery.clock import Clock


@dataclass(frozen=True)
class Stored:
    """What became of the items of a request.

    Attributes:
        items: the items that DynamoDB stored.
        at_ms: when the last one was stored, in milliseconds since 1970.
        refused: the items that DynamoDB refuses each time.
    """

    items: Sequence[Item]
    at_ms: int
    refused: Sequence[Refusal[Item]]


@dataclass(frozen=True)
class TableWriter:
    """Writes to a table.

    Attributes:
        client: DynamoDB client of boto3, which makes no retries itself.
        table: name of the table.
        timeout: seconds to repeat a request.
        clock: time and random numbers of the retries.
    """

    client: Any
    table: str
    timeout: float
    clock: Clock

    def store(self, items: Sequence[Item]) -> Stored:
        """Store the items of one request.

        If DynamoDB refuses the request because of what it contains, each item is sent alone.

        Raises:
            NotDeliveredError: if DynamoDB does not store them in time, or refuses all of several.
        """
        refused = deliver_valid(items, self._deliver)
        left_out = {refusal.entry.key for refusal in refused}
        stored = [item for item in items if item.key not in left_out] if refused else items
        return Stored(stored, now_ms(), refused)

    def _deliver(self, items: Sequence[Item]) -> None:
        deliver(
            items,
            self._send,
            f"table '{self.table}': items",
            timeout=self.timeout,
            clock=self.clock,
        )

    def _send(self, items: Sequence[Item]) -> Answer[Item]:
        stored_at = {"N": str(now_ms())}
        puts = [
            {"PutRequest": {"Item": {**item.attributes, "storedAt": stored_at}}} for item in items
        ]
        answer = self.client.batch_write_item(RequestItems={self.table: puts})
        # By the name of the table, or by its ARN: the request has one table alone.
        tables = answer.get("UnprocessedItems", {}).values()
        unprocessed = [request for requests in tables for request in requests]
        if not unprocessed:
            return Answer(())
        left = {key_of(request["PutRequest"]["Item"]) for request in unprocessed}
        refused = [item for item in items if item.key in left]
        if len(refused) != len(unprocessed):  # not an answer to this request
            return Answer(items, "UnprocessedItems with other items")
        return Answer(refused, "UnprocessedItems")
