"""Looks at a query from inside: at its progress."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from spark_kinesis._times import utc_now

from .family import Family
from .model.assembly import snapshot
from .model.facts import Facts
from .progress import batch, counters, rates, reports, steps

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

    from .model.snapshot import Snapshot

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
            retention: how long the streams keep records; default: unknown.
            now: returns the time.
        """
        self._query, self._source = query, source
        self._retention, self._now = retention, now
        self._family = Family()

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
        streams = last.end.streams if last else {}
        return snapshot(
            Facts(
                at=now,
                query=self._query.name or str(self._query.id),
                place="This session",
                batch=batch(found),
                steps=steps(found),
                shards=self._family.shards(last, is_busy=self._is_busy()) if last else {},
                retention=dict.fromkeys(streams, self._retention) if self._retention else {},
                counters=counters(last) if last else None,
                rates=rates(found, now),
                status=self._status(),
            )
        )

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
