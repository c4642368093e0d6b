"""Looks at a query from inside: at its progress."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from spark_kinesis._times import utc_now

from .expiry import retention_of
from .family import Family
from .model.assembly import snapshot
from .model.facts import Facts
from .progress import batch, counters, rates, reports, steps

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

    from .model.facts import ShardFacts, ShardKey
    from .model.snapshot import Snapshot
    from .progress import Report

_LONGEST_REASON = 300


class InsideView:
    """Makes snapshots of a query of this session."""

    def __init__(
        self,
        query: StreamingQuery,
        *,
        source: int | None = None,
        retention: timedelta | None = None,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        """Ask nothing yet.

        Args:
            query: the query.
            source: number of the Kinesis source; default: the only one.
            retention: how long the streams keep records; default: as the progress of the query
                shows it for a single stream.
            now: returns the time.
        """
        self._query, self._source = query, source
        self._retention, self._now = retention, now
        self._family = Family()
        self._learned: timedelta | None = None

    @property
    def is_active(self) -> bool:
        """Whether the query runs."""
        return bool(self._query.isActive)

    def look(self) -> Snapshot:
        """Make a snapshot.

        Raises:
            SparkKinesisError: if the query has no such Kinesis source.
        """
        now = self._now()
        found = reports(map(_plain, self._query.recentProgress), self._source)
        for it in found:
            self._family.note(it.end)
        last = found[-1] if found else None
        shards = self._family.shards(last, is_busy=self._is_busy()) if last else {}
        return snapshot(
            Facts(
                at=now,
                query=self._query.name or str(self._query.id),
                place="This session",
                batch=batch(found),
                steps=steps(found),
                shards=shards,
                retention=self._kept(last, shards) if last else {},
                counters=counters(last) if last else None,
                rates=rates(found, now),
                status=self._status(),
            )
        )

    def _kept(self, last: Report, shards: Mapping[ShardKey, ShardFacts]) -> dict[str, timedelta]:
        """How long each stream keeps records, as far as it is known."""
        self._learned = retention_of(last, shards.values()) or self._learned
        known = self._retention or self._learned
        return {} if known is None else dict.fromkeys(last.end.streams, known)

    def _is_busy(self) -> bool:
        return self.is_active and bool(self._query.status["isDataAvailable"])

    def _status(self) -> str:
        if self.is_active:
            return str(self._query.status["message"])
        error = self._query.exception()
        if error is None:
            return "Stopped"
        reason = str(error).splitlines()[0][:_LONGEST_REASON]
        return f"Failed: {reason}"


def _plain(progress: Any) -> Mapping[str, Any]:
    """A report as Spark writes it. Before Spark 4, pyspark returns a dictionary of it."""
    text = getattr(progress, "json", None)
    found: Mapping[str, Any] = json.loads(text) if isinstance(text, str) else progress
    return found
