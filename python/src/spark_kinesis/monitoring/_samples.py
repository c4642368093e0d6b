"""From the progress of a query to numbers with names and labels. Makes no calls."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

_SOURCE, _SINK = "Kinesis[", "kinesis"


class Kind(Enum):
    """What the values of a metric mean."""

    COUNTER = "counter"
    GAUGE = "gauge"


@dataclass(frozen=True, kw_only=True)
class Sample:
    """A number of a query.

    Attributes:
        name: name in lower case with underscores, such as ``source_fetched_records``.
        value: the number.
        kind: a counter begins at 0 when the query starts and only grows.
        labels: ``query``, in a source also ``source``, and for a shard ``stream`` and ``shard``.
    """

    name: str
    value: float
    kind: Kind
    labels: Mapping[str, str]


# Counters of the source since the run began. All other numbers of the source are gauges.
SOURCE_COUNTERS = frozenset(
    {
        "closedShards",
        "expiredIterators",
        "fallbackResponses",
        "failedShardListings",
        "fetchedBytes",
        "fetchedRecords",
        "lostRanges",
        "pushedBytes",
        "recordsBeforePosition",
        "requests",
        "rereadRanges",
        "retriedRequests",
        "subscriptionRenewals",
        "subscriptions",
        "subscriptionsInUse",
        "throttledRequests",
    }
)
# Counters of the sink in one micro-batch. They are added up.
SINK_COUNTERS = frozenset(
    {
        "bytesWritten",
        "deadLetters",
        "failedRecords",
        "failedRequests",
        "fallbackResponses",
        "kinesisBytesWritten",
        "kinesisRecordsWritten",
        "misplacedAggregates",
        "recordsWritten",
        "requests",
        "retriedRecords",
        "sentRecords",
        "throttledRecords",
        "unansweredRequests",
    }
)
_NUMBER = re.compile(r"-?\d+(\.\d+)?")
# Metrics with the name of a stream or of a shard, which becomes a label.
_PLACES = (
    (re.compile(r"processingLagMs\.(?P<stream>[^/]+)/(?P<shard>.+)"), "shard_processing_lag_ms"),
    (re.compile(r"maxProcessingLagMs\.(?P<stream>.+)"), "stream_max_processing_lag_ms"),
    (re.compile(r"maxFetchLagMs\.(?P<stream>.+)"), "stream_max_fetch_lag_ms"),
)


@dataclass
class RunTotals:
    """The totals of one run of a query.

    A sink reports each micro-batch on its own, and zeros while there is no new data. So its
    counters are added up.

    Attributes:
        query: name of the query.
        sink: counters of the sink.
        last: the last numbers.
    """

    query: str
    sink: dict[str, float] = field(default_factory=dict)
    last: list[Sample] = field(default_factory=list)

    def samples(self, progress: Mapping[str, Any]) -> list[Sample]:
        """The numbers after a progress.

        Args:
            progress: JSON of Spark's ``StreamingQueryProgress``. Without a source or a sink of this
                connector, the result is empty.
        """
        query = {"query": self.query}
        found = list(_sources(progress, query))
        sink = progress.get("sink") or {}
        if sink.get("description") == _SINK:
            found += self._sink(sink.get("metrics") or {}, query)
        self.last = found
        return found

    def later(self, sources: Mapping[int, Mapping[str, str]]) -> list[Sample]:
        """The last numbers, with what the sources say now.

        Args:
            sources: metrics of each source, by its number in the query.
        """
        now = [
            _of_source(name, number, {"query": self.query, "source": str(index)})
            for index, metrics in sources.items()
            for name, number in _numbers(metrics)
        ]
        places = {_place(it) for it in now}
        self.last = [it for it in self.last if _place(it) not in places] + now
        return self.last

    def _sink(self, metrics: Mapping[str, str], query: Mapping[str, str]) -> Iterator[Sample]:
        numbers = dict(_numbers(metrics))
        for name in SINK_COUNTERS & set(numbers):
            self.sink[name] = self.sink.get(name, 0) + numbers[name]
        for name, total in sorted(self.sink.items()):
            yield Sample(name=_name("sink", name), value=total, kind=Kind.COUNTER, labels=query)
        for name, number in numbers.items():
            if name not in SINK_COUNTERS:
                yield Sample(name=_name("sink", name), value=number, kind=Kind.GAUGE, labels=query)


def _place(sample: Sample) -> tuple[object, ...]:
    return (sample.name, *sorted(sample.labels.items()))


def _sources(progress: Mapping[str, Any], query: Mapping[str, str]) -> Iterator[Sample]:
    for index, source in enumerate(progress.get("sources") or ()):
        if not str(source.get("description")).startswith(_SOURCE):
            continue
        labels = {**query, "source": str(index)}
        for name, number in _numbers(source.get("metrics") or {}):
            yield _of_source(name, number, labels)


def _of_source(name: str, number: float, labels: Mapping[str, str]) -> Sample:
    kind = Kind.COUNTER if name in SOURCE_COUNTERS else Kind.GAUGE
    for pattern, plain in _PLACES:
        match = pattern.fullmatch(name)
        if match:
            place = {**labels, **match.groupdict()}
            return Sample(name=f"source_{plain}", value=number, kind=kind, labels=place)
    return Sample(name=_name("source", name), value=number, kind=kind, labels=labels)


def _numbers(metrics: Mapping[str, str]) -> Iterator[tuple[str, float]]:
    """The metrics that are numbers. The name of the hottest shard is not, for example."""
    for name, text in metrics.items():
        if _NUMBER.fullmatch(text):
            yield name, float(text)


def _name(side: str, name: str) -> str:
    return f"{side}_{re.sub('([A-Z])', lambda found: '_' + found[1].lower(), name)}"
