"""Which entries go together into a request."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Callable, Generic

from .retry import Entry

if TYPE_CHECKING:
    from collections.abc import Hashable


@dataclass
class RequestPlan(Generic[Entry]):
    """Collects the entries of the next request.

    Attributes:
        max_entries: number of entries that a request may have.
        max_bytes: size that a request may have.
        size: size of an entry, in bytes.
        key: what identifies an entry. An entry with the key of another one of the same request is
            left out, because it is the same.
    """

    max_entries: int
    max_bytes: int
    size: Callable[[Entry], int]
    key: Callable[[Entry], Hashable]
    _entries: dict[Hashable, Entry] = field(default_factory=dict, init=False)
    _bytes: int = field(default=0, init=False)

    def add(self, entry: Entry) -> list[Entry]:
        """Add an entry. Returns the request that is full, or nothing."""
        key, size = self.key(entry), self.size(entry)
        if key in self._entries:
            return []
        full = self.take() if self._bytes + size > self.max_bytes else []
        self._entries[key] = entry
        self._bytes += size
        return full or (self.take() if len(self._entries) == self.max_entries else [])

    def take(self) -> list[Entry]:
        """The request that is not full yet; nothing without entries."""
        entries, self._entries, self._bytes = list(self._entries.values()), {}, 0
        return entries
