"""The comparison of the ledgers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .ledger import BadKey, Put


@dataclass(frozen=True)
class Verdict:
    """The result of the comparison.

    Attributes:
        put: number of events in the stream.
        stored: number of items in the table.
        missing: number of events in the stream without an item.
        twice: number of items that repeat an event, or that have no event in the stream.
        errors: number of errors in the stream.
        published: number of errors of the stream that arrived at the rule's target.
        bad: number of bad events in the stream.
        kept: number of these that are in the folder of bad events once.
        strange: number of places in that folder that are there twice or hold no bad event, and of
            alerts about events that are no errors.
    """

    put: int
    stored: int
    missing: int
    twice: int
    errors: int
    published: int
    bad: int
    kept: int
    strange: int

    @property
    def is_balanced(self) -> bool:
        """Whether there were events, and each was stored, published or kept as it should be."""
        return (
            0 < self.put == self.stored
            and self.missing == self.twice == self.strange == 0
            and self.errors == self.published
            and self.bad == self.kept
        )

    def __str__(self) -> str:
        return (
            f"demo-logs: put={self.put} stored={self.stored} missing={self.missing} "
            f"twice={self.twice} errors={self.errors} published>={self.published} "
            f"bad={self.bad} kept={self.kept}"
        )


def compare(
    put: Put, stored: Iterable[str], published: Collection[str], kept: Counter[BadKey]
) -> Verdict:
    """Compare what is in the stream with what arrived.

    Args:
        put: the events of the stream.
        stored: the ID of each item of the table.
        published: the IDs of the alerts, with repeats or without.
        kept: the places of the bad events that were kept.
    """
    items = Counter(stored)
    alerts = set(published)
    once = {place for place, count in kept.items() if count == 1}
    return Verdict(
        put=sum(put.events.values()),
        stored=sum(items.values()),
        missing=sum((put.events - items).values()),
        twice=sum((items - put.events).values()),
        errors=len(put.errors),
        published=len(put.errors & alerts),
        bad=len(put.bad),
        kept=len(put.bad & once),
        strange=len(set(kept) - put.bad) + len(set(kept) - once) + len(alerts - put.errors),
    )
