"""What a micro-batch did, in numbers: for CloudWatch, and for the dashboard."""

from __future__ import annotations

import json
import logging
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .sending import client
from .table import now_ms, time_text

if TYPE_CHECKING:
    from .events import Event, Record
    from .settings import Settings

NAMESPACE = "LogProcessing"
PROGRESS = "#progress#"  # begins the partition key of the dashboard's items, as no service does
PROGRESS_DAYS = 1
_MOST_NAMES, _MAX_NAME, _LATEST_ERRORS, _MAX_ERROR = 50, 64, 5, 300
_LOG = logging.getLogger(__name__)


@dataclass
class Counts:
    """The counts of a task, or of a micro-batch.

    Attributes:
        done: events that were stored, or alerts that were published.
        oldest: earliest arrival of a record, in milliseconds since 1970; 0 without records.
        latency: stored events by milliseconds from arrival until they were stored, rounded up.
        errors: timestamp, service and message of the latest severe events.
    """

    records: int = 0
    bytes: int = 0
    done: int = 0
    bad: int = 0
    oldest: int = 0
    levels: Counter[str] = field(default_factory=Counter)
    services: Counter[str] = field(default_factory=Counter)
    latency: Counter[str] = field(default_factory=Counter)
    errors: list[list[str]] = field(default_factory=list)

    def count_record(self, record: Record) -> None:
        """Count a record that was read."""
        self.records += 1
        self.bytes += len(record.data)
        self.oldest = min(self.oldest or record.arrival_ms, record.arrival_ms)

    def count_stored(self, event: Event, at_ms: int) -> None:
        """Count an event that was stored at a time in milliseconds since 1970."""
        self.done += 1
        self.levels[event.level[:_MAX_NAME]] += 1
        self.services[event.service[:_MAX_NAME]] += 1
        self.latency[str(_rounded_up(max(0, at_ms - event.record.arrival_ms)))] += 1
        if event.is_severe:
            message = event.message[:_MAX_ERROR]
            self._keep_latest([[time_text(event.time_us), event.service[:_MAX_NAME], message]])

    def add(self, other: Counts) -> None:
        """Add the counts of another task."""
        self.records += other.records
        self.bytes += other.bytes
        self.done += other.done
        self.bad += other.bad
        self.oldest = min(filter(None, (self.oldest, other.oldest)), default=0)
        self.levels.update(other.levels)
        self.services.update(other.services)
        self.latency.update(other.latency)
        self._keep_latest(other.errors)

    def percentile(self, share: float) -> int:
        """Milliseconds within which this share of the events was stored, at most 10 % too high."""
        left = share * self.done
        for millis in sorted(map(int, self.latency)):
            left -= self.latency[str(millis)]
            if left <= 0:
                return millis
        return 0

    def to_json(self) -> str:
        """The counts as text, for a row of a DataFrame."""
        return json.dumps(vars(self))

    def _keep_latest(self, errors: list[list[str]]) -> None:
        self.errors = sorted(self.errors + errors, reverse=True)[:_LATEST_ERRORS]


def counts_of(text: str) -> Counts:
    """The counts from the text of ``to_json``."""
    fields = json.loads(text)
    counters = {name: Counter(fields[name]) for name in ("levels", "services", "latency")}
    return Counts(**{**fields, **counters})


def _rounded_up(millis: int) -> int:
    step = int(10 ** max(1, len(str(millis)) - 2))
    return -(-millis // step) * step


def age_ms(counts: Counts, now_ms: int) -> int:
    """Age of the oldest record of a micro-batch at its end, in milliseconds; 0 without records.

    Any record that the query has not processed is younger, if shards are read evenly.
    """
    return max(0, now_ms - counts.oldest) if counts.oldest else 0


def print_metrics(query: str, **numbers: float) -> None:
    """Print a line in CloudWatch's embedded metric format. EMR sends the output to CloudWatch."""
    units = {"AgeMs": "Milliseconds", "Bytes": "Bytes"}
    metrics = [{"Name": it, "Unit": units.get(it, "Count")} for it in numbers]
    directive = {"Namespace": NAMESPACE, "Dimensions": [["Query"]], "Metrics": metrics}
    stamp = {"Timestamp": now_ms(), "CloudWatchMetrics": [directive]}
    print(json.dumps({"_aws": stamp, "Query": query, **numbers}), flush=True)


def save_progress(settings: Settings, query: str, batch: int, total: Counts) -> None:
    """Write an item for the dashboard. A failure is logged: the dashboard lacks one micro-batch.

    The ID of the query tells micro-batches of the same number apart after a new checkpoint.
    """
    now = now_ms()
    progress = {
        "time": now,
        "query": query,
        "batch": batch,
        "records": total.records,
        "stored": total.done,
        "bad": total.bad,
        "ageMs": age_ms(total, now),
        "p50": total.percentile(0.5),
        "p99": total.percentile(0.99),
        "levels": total.levels.most_common(_MOST_NAMES),
        "services": total.services.most_common(_MOST_NAMES),
        "errors": total.errors,
    }
    item = {
        "pk": {"S": PROGRESS + settings.name},
        "sk": {"S": f"{time_text(now * 1000)}#{batch}"},
        "progress": {"S": json.dumps(progress)},
        "expiresAt": {"N": str(now // 1000 + PROGRESS_DAYS * 24 * 60 * 60)},
    }
    try:
        dynamodb = client("dynamodb", settings.region, settings.dynamodb_endpoint)
        dynamodb.batch_write_item(RequestItems={settings.table: [{"PutRequest": {"Item": item}}]})
    except Exception as error:  # noqa: BLE001 whatever it is, the micro-batch is done
        _LOG.warning("The dashboard lacks micro-batch %d: %s", batch, error)
