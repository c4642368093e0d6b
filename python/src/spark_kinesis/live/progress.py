"""Facts from the progress that Spark reports of a query. No call of Kinesis is made for them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from spark_kinesis._errors import SparkKinesisError
from spark_kinesis._times import from_iso
from spark_kinesis.tools.facts.offsets import decode, is_kinesis

from .model.facts import BatchFacts, Counters, Rates, Step
from .steps import complete

if TYPE_CHECKING:
    from spark_kinesis.tools.facts.offsets import SourceOffset

RATE_WINDOW = timedelta(minutes=1)


@dataclass(frozen=True, kw_only=True)
class Report:
    """One report of a query, of one of its sources.

    Attributes:
        at: when the trigger began.
        number: ID of the micro-batch.
        phases: milliseconds that each phase took.
        rows: number of rows that the source read.
        start: where the micro-batch began. ``None`` before the first.
        end: where it ended.
        ahead: how far the executors have read ahead.
        metrics: the metrics of the source; see ``docs/reference/metrics.md``.
    """

    at: datetime
    number: int
    phases: Mapping[str, int]
    rows: int
    start: SourceOffset | None
    end: SourceOffset
    ahead: SourceOffset
    metrics: Mapping[str, str]

    @property
    def has_moved(self) -> bool:
        """Whether the micro-batch has advanced, and not only waited for data."""
        return self.start != self.end

    @property
    def ended(self) -> datetime:
        """When the trigger ended, and the source reported its metrics."""
        return self.at + timedelta(milliseconds=self.phases.get("triggerExecution", 0))

    def count(self, name: str) -> int:
        """A counter. 0 if it is absent."""
        return int(self.metrics.get(name, 0))


def reports(progress: Iterable[Mapping[str, Any]], source: int | None) -> list[Report]:
    """The reports about one source, oldest first.

    Args:
        progress: Spark's reports as it writes them in JSON.
        source: number of the Kinesis source; default: the only one.

    Raises:
        SparkKinesisError: if there is no such source, or several and none was named.
    """
    found = (_report(it, it["sources"][_number(it["sources"], source)]) for it in progress)
    return [it for it in found if it is not None]


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
    return any(is_kinesis(json.dumps(it)) for it in offsets) or str(
        source.get("description", "")
    ).startswith("Kinesis[")


def _report(progress: Mapping[str, Any], source: Mapping[str, Any]) -> Report | None:
    start, end = _offset(source.get("startOffset")), _offset(source.get("endOffset"))
    end = end or start
    if end is None:
        return None
    return Report(
        at=from_iso(str(progress["timestamp"])),
        number=int(progress["batchId"]),
        phases={str(name): int(it) for name, it in progress.get("durationMs", {}).items()},
        rows=int(source.get("numInputRows", 0)),
        start=start,
        end=end,
        ahead=_offset(source.get("latestOffset")) or end,
        metrics=source.get("metrics") or {},
    )


def _offset(value: Any) -> SourceOffset | None:
    text = value if isinstance(value, str) else json.dumps(value)
    return decode(text, "the progress of the query") if is_kinesis(text) else None


def steps(found: Sequence[Report]) -> tuple[Step, ...]:
    """The way of the query through the micro-batches that have advanced."""
    return tuple(Step(at=it.at, complete=complete(it.end)) for it in found if it.has_moved)


def rates(found: Sequence[Report], now: datetime) -> Rates:
    """The rows per second of the last minute, and at least of the last micro-batch."""
    moved = [it for it in found if it.has_moved]
    lately = [it for it in moved if now - it.at <= RATE_WINDOW] or moved[-1:]
    if not lately or now <= lately[0].at:
        return Rates()
    return Rates(processed=sum(it.rows for it in lately) / (now - lately[0].at).total_seconds())


def batch(found: Sequence[Report]) -> BatchFacts | None:
    """The latest micro-batch that has advanced."""
    last = next((it for it in reversed(found) if it.has_moved), None)
    if last is None:
        return None
    return BatchFacts(
        number=last.number,
        planned=last.at,
        is_running=False,
        phases=last.phases,
        rows=last.rows,
        took=timedelta(milliseconds=last.phases["triggerExecution"])
        if "triggerExecution" in last.phases
        else None,
    )


def counters(last: Report) -> Counters:
    """The counters of the source."""
    return Counters(
        throttled_requests=last.count("throttledRequests"),
        retried_requests=last.count("retriedRequests"),
        reread_ranges=last.count("rereadRanges"),
        lost_ranges=last.count("lostRanges"),
        buffered_bytes=last.count("bufferedBytes"),
        spilled_bytes=last.count("spilledBytes"),
        fetched_records=last.count("fetchedRecords"),
    )
