"""Which items go together into a request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from log_processing.delivery.request_plan import RequestPlan

if TYPE_CHECKING:
    from .items import Item

MAX_ITEMS = 25
# DynamoDB allows 16 MB. Less, because a task holds several requests in memory. An item of 400 KB
# that is all control characters has 2.4 MB in a request.
MAX_REQUEST_BYTES = 4 * 1024 * 1024


def item_plan() -> RequestPlan[Item]:
    """A plan within DynamoDB's limits, which refuses a request with two items of the same key."""
    return RequestPlan(
        MAX_ITEMS, MAX_REQUEST_BYTES, size=lambda item: item.sent_bytes, key=lambda item: item.key
    )
