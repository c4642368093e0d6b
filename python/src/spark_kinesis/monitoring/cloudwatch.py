"""CloudWatch extracts the numbers from lines of a log, in its embedded metric format."""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from .samples import Kind, Sample

NAMESPACE = "SparkKinesis"
# A line has at most 100 metrics: the specification of the embedded metric format.
MAX_METRICS = 100


def _print(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


class EmbeddedMetrics:
    """An exporter for CloudWatch: lines of JSON for a log group.

    A line costs nothing more than a line of the log, but each metric that CloudWatch makes of it
    has a price per month. Metrics per shard are off by default.

    Counters are sent as their increase since the last line, because CloudWatch adds up.
    """

    def __init__(
        self,
        *,
        namespace: str = NAMESPACE,
        per_shard: bool = False,
        write: Callable[[str], None] = _print,
    ) -> None:
        """Write nothing yet.

        Args:
            namespace: namespace in CloudWatch.
            per_shard: whether to send the lag of each shard, too.
            write: takes a line. Default: to standard output, which EMR and Kubernetes send to
                CloudWatch Logs.
        """
        self._namespace, self._per_shard, self._write = namespace, per_shard, write
        self._before: dict[str, dict[tuple[object, ...], float]] = {}

    def update(self, run: str, samples: Sequence[Sample], time_ms: int) -> None:
        """Write lines with the numbers of a run."""
        before = self._before.setdefault(run, {})
        groups: dict[tuple[tuple[str, str], ...], dict[str, float]] = defaultdict(dict)
        for sample in samples:
            if "shard" in sample.labels and not self._per_shard:
                continue
            labels = tuple(sample.labels.items())
            value = sample.value
            if sample.kind is Kind.COUNTER:
                key = (sample.name, labels)
                value -= before.get(key, 0)
                before[key] = sample.value
            groups[labels][sample.name] = value
        for labels, numbers in groups.items():
            for part in _parts(numbers):
                self._write(self._line(dict(labels), part, time_ms))

    def remove(self, run: str) -> None:
        """Forget a run."""
        self._before.pop(run, None)

    def _line(self, labels: dict[str, str], numbers: Mapping[str, float], time_ms: int) -> str:
        metrics = [{"Name": name, "Unit": _unit(name)} for name in numbers]
        directive = {
            "Namespace": self._namespace,
            "Dimensions": [list(labels)],
            "Metrics": metrics,
        }
        line: dict[str, Any] = {"_aws": {"Timestamp": time_ms, "CloudWatchMetrics": [directive]}}
        return json.dumps({**line, **labels, **numbers}, separators=(",", ":"))


def _parts(numbers: Mapping[str, float]) -> Iterator[dict[str, float]]:
    items = list(numbers.items())
    for start in range(0, len(items), MAX_METRICS):
        yield dict(items[start : start + MAX_METRICS])


def _unit(name: str) -> str:
    words = name.split("_")
    if "ms" in words:
        return "Milliseconds"
    if words[-3:] == ["bytes", "per", "second"]:
        return "Bytes/Second"
    return "Bytes" if "bytes" in words else "None" if "share" in words else "Count"
