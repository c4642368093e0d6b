"""Stores items with ``BatchWriteItem``."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from log_processing.delivery.retry import Answer, Times, deliver

from .items import Item, key_of

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class TableWriter:
    """Writes to a table.

    Attributes:
        client: DynamoDB client of boto3, which makes no retries itself.
        table: name of the table.
        timeout: seconds to repeat a request.
        times: clock of the retries.
    """

    client: Any
    table: str
    timeout: float
    times: Times

    def store(self, items: Sequence[Item]) -> int:
        """Store the items of one request.

        Returns:
            The time when the last item was stored, in milliseconds since 1970.

        Raises:
            NotDeliveredError: if DynamoDB does not store them in time, or refuses them.
        """
        deliver(
            items,
            self._send,
            f"table '{self.table}'",
            kind="items",
            timeout=self.timeout,
            times=self.times,
        )
        return _now_ms()

    def _send(self, items: Sequence[Item]) -> Answer[Item]:
        stored_at = {"N": str(_now_ms())}
        puts = [
            {"PutRequest": {"Item": {**item.attributes, "storedAt": stored_at}}} for item in items
        ]
        answer = self.client.batch_write_item(RequestItems={self.table: puts})
        unprocessed = answer.get("UnprocessedItems", {}).get(self.table)
        if not unprocessed:
            return Answer(())
        left = {key_of(request["PutRequest"]["Item"]) for request in unprocessed}
        refused = [item for item in items if item.key in left]
        if len(refused) != len(unprocessed):  # not an answer to this request
            return Answer(items, "UnprocessedItems with other items")
        return Answer(refused, "UnprocessedItems")


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
