"""Looks at a query from inside: at the progress that Spark reports. No call of Kinesis is made."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from spark_kinesis._errors import SparkKinesisError
from spark_kinesis._offsets import Progress, decode, is_kinesis
from spark_kinesis._times import from_iso, utc_now

from .snapshot import MicroBatch, Step, complete, shards_of, snapshot

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

    from spark_kinesis._offsets import SourceOffset

    from .snapshot import ShardKey, Snapshot

_KEPT = 100


class InsideView:
    """Makes snapshots of a query of this session.

    The first look asks Spark for all recent reports. Later ones ask for the last one only, because
    the recent ones of a large stream are megabytes.
    """

    def __init__(
        self,
        query: StreamingQuery,
        *,
        source: int | None = None,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        """Ask nothing yet. ``watch`` has the arguments."""
        self._query, self._source, self._now = query, source, now
        self._steps: deque[Step] = deque(maxlen=_KEPT)
        self._last: Report | None = None
        self._batch: MicroBatch | None = None

    @property
    def is_active(self) -> bool:
        """Whether the query runs."""
        return bool(self._query.isActive)

    def look(self) -> Snapshot:
        """Make a snapshot."""
        now, query = self._now(), self._query
        for it in reports(
            [query.lastProgress] if self._last else query.recentProgress, self._source
        ):
            self._note(it)
        last = self._last
        # Records arrive while a micro-batch runs, so no shard has caught up then.
        is_busy = self.is_active and bool(query.status["isDataAvailable"])
        return snapshot(
            at=now,
            query=query.name or str(query.id),
            status=self._status(),
            batch=self._batch,
            steps=tuple(self._steps),
            positions=shards_of(last.end) if last else {},
            lags=last.lags(now, is_busy=is_busy) if last else {},
            retention=last.retention() if last else {},
        )

    def _note(self, report: Report) -> None:
        before = self._last.end if self._last else report.start
        self._last = report
        if report.end != before:  # Otherwise, Spark has only waited for data.
            self._steps.append(Step(at=report.at, complete=complete(report.end)))
            self._batch = MicroBatch(number=report.batch, planned=report.at, is_running=False)

    def _status(self) -> str:
        if self.is_active:
            return str(self._query.status["message"])
        error = self._query.exception()
        return "Stopped" if error is None else f"Failed: {str(error).splitlines()[0]}"


@dataclass(frozen=True, kw_only=True)
class Report:
    """One report of a query, of one of its sources."""

    batch: int  # ID of the micro-batch
    at: datetime  # when the trigger began
    start: SourceOffset | None  # where it began. ``None`` before the first.
    end: SourceOffset  # where it ended
    ahead: SourceOffset  # how far the executors have read ahead
    metrics: Mapping[str, str]  # of the source; see ``docs/reference/metrics.md``

    def lags(self, now: datetime, *, is_busy: bool) -> dict[ShardKey, timedelta | None]:
        """How far each shard is behind. ``None`` if unknown.

        It is zero if reading ahead has caught up at the position, and found nothing.
        """
        ahead = shards_of(self.ahead)
        found: dict[ShardKey, timedelta | None] = {}
        for key, it in shards_of(self.end).items():
            further = ahead.get(key, it)
            is_same = (further.place, further.waits_for) == (it.place, it.waits_for)
            of_all = self.metrics.get("maxFetchLagMs")
            behind = self.metrics.get(f"maxFetchLagMs.{key[0]}", of_all)
            since = (further.complete_as_of if is_same else None) or it.complete_until
            if it.progress is Progress.FINISHED or (is_same and behind == "0" and not is_busy):
                found[key] = timedelta()
            else:
                found[key] = None if since is None else max(timedelta(), now - since)
        return found

    def retention(self) -> dict[str, timedelta]:
        """How long the stream keeps records: the time left to the oldest unread one, and its lag.

        It is unknown if the query reads several streams, because their periods may differ.
        """
        left = self.metrics.get("minMsToExpiry")
        lags = [it for it in self.lags(self.at, is_busy=False).values() if it is not None]
        if left is None or not lags or len(self.end.streams) > 1:
            return {}
        return dict.fromkeys(self.end.streams, timedelta(milliseconds=int(left)) + max(lags))


def reports(progress: Iterable[Any], source: int | None) -> list[Report]:
    """Spark's reports about one Kinesis source, oldest first. Default: the only one."""
    # Before Spark 4, pyspark returns a dictionary of what it has parsed.
    plain = [json.loads(it.json) if hasattr(it, "json") else it for it in progress]
    found = (_report(it, _chosen(it["sources"], source)) for it in plain)
    return [it for it in found if it is not None]


def _chosen(sources: Sequence[Mapping[str, Any]], wanted: int | None) -> Mapping[str, Any]:
    known = {
        number: it
        for number, it in enumerate(sources)
        if str(it.get("description")).startswith("Kinesis[")
    }
    if wanted is None and len(known) == 1:
        return next(iter(known.values()))
    if wanted not in known:
        raise SparkKinesisError(
            f"source={wanted} names no Kinesis source of the query. Name one of these numbers: "
            f"{', '.join(map(str, known)) or 'none'}"
        )
    return known[wanted]


def _report(progress: Mapping[str, Any], source: Mapping[str, Any]) -> Report | None:
    start, end = _offset(source.get("startOffset")), _offset(source.get("endOffset"))
    end = end or start
    if end is None:
        return None
    return Report(
        batch=int(progress["batchId"]),
        at=from_iso(str(progress["timestamp"])),
        start=start,
        end=end,
        ahead=_offset(source.get("latestOffset")) or end,
        metrics=source.get("metrics") or {},
    )


def _offset(value: Any) -> SourceOffset | None:
    text = value if isinstance(value, str) else json.dumps(value)
    return decode(text, "the progress of the query") if is_kinesis(text) else None
