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
_OF_SHARD = re.compile(r"msBehindLatest\.(?P<stream>[^/]+)/(?P<shard>.+)")
_OF_STREAM = re.compile(r"maxMsBehindLatest\.(?P<stream>.+)")


@dataclass
class RunTotals:
    """The totals of one run of a query.

    A sink reports each micro-batch on its own, and zeros while there is no new data. So its
    counters are added up.
    """

    sink: dict[str, float] = field(default_factory=dict)

    def samples(self, progress: Mapping[str, Any]) -> list[Sample]:
        """The numbers after a progress.

        Args:
            progress: JSON of Spark's ``StreamingQueryProgress``. Without a source or a sink of this
                connector, the result is empty.
        """
        query = {"query": str(progress.get("name") or progress.get("id"))}
        found = list(_sources(progress, query))
        sink = progress.get("sink") or {}
        if sink.get("description") == _SINK:
            found += self._sink(sink.get("metrics") or {}, query)
        return found

    def _sink(self, metrics: Mapping[str, str], query: Mapping[str, str]) -> Iterator[Sample]:
        numbers = dict(_numbers(metrics))
        for name in SINK_COUNTERS & set(numbers):
            self.sink[name] = self.sink.get(name, 0) + numbers[name]
        for name, total in sorted(self.sink.items()):
            yield Sample(name=_name("sink", name), value=total, kind=Kind.COUNTER, labels=query)
        for name, number in numbers.items():
            if name not in SINK_COUNTERS:
                yield Sample(name=_name("sink", name), value=number, kind=Kind.GAUGE, labels=query)


def _sources(progress: Mapping[str, Any], query: Mapping[str, str]) -> Iterator[Sample]:
    for index, source in enumerate(progress.get("sources") or ()):
        if not str(source.get("description")).startswith(_SOURCE):
            continue
        labels = {**query, "source": str(index)}
        for name, number in _numbers(source.get("metrics") or {}):
            yield _of_source(name, number, labels)


def _of_source(name: str, number: float, labels: Mapping[str, str]) -> Sample:
    kind = Kind.COUNTER if name in SOURCE_COUNTERS else Kind.GAUGE
    for pattern, plain in ((_OF_SHARD, "shard_ms_behind"), (_OF_STREAM, "stream_max_ms_behind")):
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
