"""Which items go together into a request."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .items import Item

MAX_ITEMS = 25
# DynamoDB allows 16 MB. Less, because a task holds several requests in memory. An item of 400 KB
# that is all control characters has 2.4 MB in a request.
MAX_REQUEST_BYTES = 4 * 1024 * 1024


class BatchPlan:
    """Collects the items of the next request."""

    def __init__(self) -> None:
        """Has no items."""
        self._items: list[Item] = []
        self._keys: set[tuple[str, str]] = set()
        self._bytes = 0

    def add(self, item: Item) -> list[Item]:
        """Add an item. Returns the request that is full, or nothing.

        DynamoDB refuses a request with two items of the same key. They are the same event, so one
        of them is enough.
        """
        key = item.key
        if key in self._keys:
            return []
        full: list[Item] = []
        if self._bytes + item.sent_bytes > MAX_REQUEST_BYTES:
            full = self.take()
        self._items.append(item)
        self._keys.add(key)
        self._bytes += item.sent_bytes
        return full or (self.take() if len(self._items) == MAX_ITEMS else [])

    def take(self) -> list[Item]:
        """The request that is not full yet; nothing without items."""
        items, self._items = self._items, []
        self._keys = set()
        self._bytes = 0
        return items
