"""Looks at a query from inside: at the progress that Spark reports. No call of Kinesis is made."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from spark_kinesis._errors import SparkKinesisError
from spark_kinesis._offsets import Progress, decode, is_kinesis
from spark_kinesis._times import from_iso, utc_now

from .snapshot import (
    Counters,
    Facts,
    MicroBatch,
    ShardFacts,
    camel,
    shards_of,
    snapshot,
)
from .way import Way

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

    from spark_kinesis._offsets import SourceOffset

    from .forecast import Step
    from .snapshot import ShardKey, Snapshot

_KEPT = 100
_RATE_WINDOW = timedelta(minutes=1)
_LONGEST_REASON = 300
_BEHIND, _LEFT = "maxFetchLagMs", "minMsToExpiry"
_HOUR = timedelta(hours=1)  # Kinesis keeps records for a whole number of hours


class InsideView:
    """Makes snapshots of a query of this session.

    A look asks Spark for its last report only, because all recent ones of a large stream are
    megabytes. The view keeps what it has seen.
    """

    def __init__(
        self,
        query: StreamingQuery,
        *,
        source: int | None = None,
        retention: timedelta | None = None,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        """Ask nothing yet. ``watch`` has the arguments."""
        self._query, self._source, self._now = query, source, now
        self._given, self._learned = retention, retention
        self._parents: dict[ShardKey, tuple[str, ...]] = {}
        self._way = Way(_KEPT)
        self._last: Report | None = None
        self._batch: MicroBatch | None = None

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
        for it in self._new_reports():
            self._note(it)
        streams = self._last.end.streams if self._last else {}
        return snapshot(
            Facts(
                at=now,
                query=self._query.name or str(self._query.id),
                place="This session",
                batch=self._batch,
                steps=tuple(self._way.steps),
                shards=self._shards(self._last, now) if self._last else {},
                retention=dict.fromkeys(streams, self._learned) if self._learned else {},
                counters=self._last.counters if self._last else None,
                processed=_rate(self._way.steps, now),
                status=self._status(),
            )
        )

    def _new_reports(self) -> list[Report]:
        last = self._query.lastProgress
        found = reports([] if last is None else [last], self._source)
        if not found or (self._last and found[0].at <= self._last.at):
            return []
        named = {key for offset in found[0].offsets for key in shards_of(offset)}
        is_next = self._last is not None and found[0].start == self._last.end
        if named <= self._parents.keys() and (found[0].has_moved or is_next):
            return found
        # Earlier reports are needed at the first look, when shards appear, and when a query waits
        # after a micro-batch that no look has seen. They say what shards waited for, and how fast
        # the query was.
        every = reports(self._query.recentProgress, self._source)
        return [it for it in every if self._last is None or it.at > self._last.at]

    def _note(self, report: Report) -> None:
        for offset in report.offsets:
            for key, it in shards_of(offset).items():
                self._parents[key] = tuple(sorted({*self._parents.get(key, ()), *it.waits_for}))
        self._last = report
        self._learned = self._given or report.retention or self._learned
        batch = report.batch
        if self._way.add(batch.number, report.at, report.start, report.end, batch.rows):
            self._batch = batch

    def _shards(self, last: Report, now: datetime) -> dict[ShardKey, ShardFacts]:
        """What is known about all shards that were ever named."""
        # Records arrive while a micro-batch runs, so no shard has caught up then.
        is_busy = self.is_active and bool(self._query.status["isDataAvailable"])
        positions, lags = shards_of(last.end), last.lags(now, is_busy=is_busy)
        nothing = {key for key, it in lags.items() if it == timedelta()}
        return {
            key: ShardFacts(
                parents=parents,
                position=positions.get(key),
                lag=lags.get(key),
                records=0 if key in nothing else None,
                is_counted=key in nothing,
            )
            for key, parents in sorted(self._parents.items())
        }

    def _status(self) -> str:
        if self.is_active:
            return str(self._query.status["message"])
        error = self._query.exception()
        if error is None:
            return "Stopped"
        reason = str(error).splitlines()[0][:_LONGEST_REASON]
        return f"Failed: {reason}"


def _rate(steps: Sequence[Step], now: datetime) -> float | None:
    """The rows per second of the last minute, and at least of the last micro-batch.

    A micro-batch between two looks is not known. It counts like the others.
    """
    lately = [it for it in steps if now - it.at <= _RATE_WINDOW] or list(steps)[-1:]
    if not lately or now <= lately[0].at:
        return None
    rows = sum(it.rows or 0 for it in lately) / len(lately)
    batches = max(len(lately), lately[-1].number - lately[0].number + 1)
    return rows * batches / (now - lately[0].at).total_seconds()


@dataclass(frozen=True, kw_only=True)
class Report:
    """One report of a query, of one of its sources."""

    at: datetime  # when the trigger began
    batch: MicroBatch  # the micro-batch
    start: SourceOffset | None  # where it began. ``None`` before the first.
    end: SourceOffset  # where it ended
    ahead: SourceOffset  # how far the executors have read ahead
    metrics: Mapping[str, str]  # of the source; see ``docs/reference/metrics.md``

    @property
    def offsets(self) -> tuple[SourceOffset, ...]:
        """The start and the end."""
        return (self.end,) if self.start is None else (self.start, self.end)

    @property
    def has_moved(self) -> bool:
        """Whether the micro-batch has advanced, and not only waited for data."""
        return self.start != self.end

    @property
    def counters(self) -> Counters:
        """The counters of the source. 0 for one that is absent."""
        names = {it.name: camel(it.name) for it in fields(Counters)}
        return Counters(**{name: int(self.metrics.get(it, 0)) for name, it in names.items()})

    def lags(self, now: datetime, *, is_busy: bool) -> dict[ShardKey, timedelta | None]:
        """How far each shard is behind. ``None`` if unknown.

        It is zero if reading ahead has caught up at the position, and found nothing.
        """
        ahead = shards_of(self.ahead)
        found: dict[ShardKey, timedelta | None] = {}
        for key, it in shards_of(self.end).items():
            further = ahead.get(key, it)
            is_same = (further.place, further.waits_for) == (it.place, it.waits_for)
            behind = self.metrics.get(f"{_BEHIND}.{key[0]}", self.metrics.get(_BEHIND))
            since = (further.complete_as_of if is_same else None) or it.complete_until
            if it.progress is Progress.FINISHED or (is_same and behind == "0" and not is_busy):
                found[key] = timedelta()
            else:
                found[key] = None if since is None else max(timedelta(), now - since)
        return found

    @property
    def retention(self) -> timedelta | None:
        """How long the stream keeps records: the time left to the oldest unread one, and its lag.

        ``None`` if the report does not say it, or if the query reads several streams: their
        retention periods may differ.
        """
        left = self.metrics.get(_LEFT)
        ended = self.at + (self.batch.took or timedelta())  # The source counts then.
        lags = [it for it in self.lags(ended, is_busy=False).values() if it is not None]
        if left is None or not lags or len(self.end.streams) != 1:
            return None
        if int(left) == 0:  # Records may have expired before, so the period is the lag at most.
            return max(lags) // _HOUR * _HOUR
        found = timedelta(milliseconds=int(left)) + max(lags)
        return (found + _HOUR / 2) // _HOUR * _HOUR


def reports(progress: Iterable[Any], source: int | None) -> list[Report]:
    """The reports about one source, oldest first.

    Args:
        progress: Spark's reports, as pyspark returns them.
        source: number of the Kinesis source; default: the only one.

    Raises:
        SparkKinesisError: if there is no such source, or several and none was named.
    """
    plain = [_plain(it) for it in progress]
    found = (_report(it, it["sources"][_number(it["sources"], source)]) for it in plain)
    return [it for it in found if it is not None]


def _plain(progress: Any) -> Mapping[str, Any]:
    """A report as Spark writes it. Before Spark 4, pyspark returns a dictionary of it."""
    text = getattr(progress, "json", None)
    found: Mapping[str, Any] = json.loads(text) if isinstance(text, str) else progress
    return found


def _number(sources: Sequence[Mapping[str, Any]], wanted: int | None) -> int:
    known = [number for number, it in enumerate(sources) if _is_ours(it)]
    if wanted is None and len(known) == 1:
        return known[0]
    if wanted is not None and wanted in known:
        return wanted
    advice = f"there is no source {wanted}" if wanted is not None else "name one with source="
    raise SparkKinesisError(
        f"the query has {len(known)} Kinesis sources, with the numbers "
        f"{', '.join(map(str, known)) or 'none'}: {advice}"
    )


def _is_ours(source: Mapping[str, Any]) -> bool:
    offsets = (source.get("endOffset"), source.get("startOffset"), source.get("latestOffset"))
    return str(source.get("description", "")).startswith("Kinesis[") or any(
        is_kinesis(json.dumps(it)) for it in offsets
    )


def _report(progress: Mapping[str, Any], source: Mapping[str, Any]) -> Report | None:
    start, end = _offset(source.get("startOffset")), _offset(source.get("endOffset"))
    end = end or start
    if end is None:
        return None
    at = from_iso(str(progress["timestamp"]))
    phases = {str(name): int(it) for name, it in progress.get("durationMs", {}).items()}
    took = phases.get("triggerExecution")
    return Report(
        at=at,
        batch=MicroBatch(
            number=int(progress["batchId"]),
            planned=at,
            is_running=False,
            phases=phases,
            rows=int(source.get("numInputRows", 0)),
            took=None if took is None else timedelta(milliseconds=took),
        ),
        start=start,
        end=end,
        ahead=_offset(source.get("latestOffset")) or end,
        metrics=source.get("metrics") or {},
    )


def _offset(value: Any) -> SourceOffset | None:
    text = value if isinstance(value, str) else json.dumps(value)
    return decode(text, "the progress of the query") if is_kinesis(text) else None
