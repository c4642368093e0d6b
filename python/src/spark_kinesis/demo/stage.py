"""The running demo: its query, its resharding and its display."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .query import LOG, Query
from .shards import Shard, children, list_shards
from .snapshot import MicroBatch, Rates, Snapshot

if TYPE_CHECKING:
    from .books import Books
    from .screen import Screen
    from .traffic import Traffic

FRAME_SECONDS = 0.2
CAUGHT_UP_LINES = 1000  # the log has these in two seconds

Reshard = Callable[[Any, str], list[Shard]]


class Stage:
    """A query over a stream that is being written, and a screen that shows both.

    Args:
        client: boto3 client.
        books: books of the lines written and read.
        screen: display.
        traffic: threads that write and read. ``watch`` raises their errors.
    """

    def __init__(self, client: Any, books: Books, screen: Screen, traffic: Traffic) -> None:
        """Start the clock of the demo."""
        self._client = client
        self._books = books
        self._screen = screen
        self._traffic = traffic
        self._begun = time.monotonic()
        self._rates = Rates()
        self._query: Query | None = None
        self._doing = "starting Spark"
        self._batch: MicroBatch | None = None

    def tell(self, event: str) -> None:
        """Show an event."""
        self._screen.tell(self._seconds(), event)

    def start(self, query: Query, event: str) -> None:
        """Set the running query, and show an event."""
        self._query, self._doing = query, "query running"
        self.tell(event)

    def stop(self, event: str) -> None:
        """Stop the query between two micro-batches."""
        if self._query is not None:
            query, self._query = self._query, None
            query.stop()
            self._doing = "query stopped"
            self.tell(event)

    def reshard(self, change: Reshard, verb: str) -> None:
        """Split or merge shards of the log."""
        old = change(self._client, LOG)
        self.watch_until(lambda: bool(children(self._shards(), old)), 10)
        new = children(self._shards(), old)
        before, after = (" and ".join(shard.name for shard in side) for side in (old, new))
        self.tell(f"shard{'s' * (len(old) > 1)} {before} {verb} into {after}")

    def watch(self, seconds: float) -> None:
        """Update the display for some seconds."""
        self.watch_until(lambda: False, seconds)

    def watch_until(self, condition: Callable[[], bool], seconds: float) -> bool:
        """Update the display until a condition holds or the time is over. Returns the condition."""
        until = time.monotonic() + seconds
        while not (holds := condition()) and time.monotonic() < until:
            self._check()
            self._show()
            time.sleep(FRAME_SECONDS)
        self._show()
        return holds

    def has_caught_up(self) -> bool:
        """Whether almost all lines written have arrived."""
        totals = self._books.totals()
        return totals.read > 0 and totals.written - totals.read < CAUGHT_UP_LINES

    def _seconds(self) -> float:
        return time.monotonic() - self._begun

    def _shards(self) -> list[Shard]:
        return list_shards(self._client, LOG)

    def _check(self) -> None:
        """Raise the error of a thread or of the query."""
        self._traffic.check()
        if self._query is not None:
            self._query.check()

    def _show(self) -> None:
        totals, now = self._books.totals(), self._seconds()
        self._rates.note(now, totals.written, totals.read)
        if self._query is not None:
            self._batch = self._query.latest_batch() or self._batch
        self._screen.show(
            Snapshot(
                seconds=now,
                query=self._doing,
                totals=totals,
                shards=self._shards(),
                batch=self._batch,
                rates=self._rates.seconds(),
            )
        )
