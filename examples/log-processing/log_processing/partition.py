"""What a Spark task does with the records of its partition: parse, store, alert.

Each record is parsed once. Requests run in threads, a bounded number at a time, so that a task
holds at most these requests, one batch of Arrow and the bad events that it has not returned yet.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from log_processing.alerts.entries import Entry, entry, entry_plan
from log_processing.alerts.publisher import Publisher
from log_processing.delivery.clients import client
from log_processing.delivery.in_flight import InFlight
from log_processing.delivery.refusals import Refusal
from log_processing.events import reasons
from log_processing.events.event import BadEvent, KinesisRecord, LogEvent
from log_processing.events.lifetime import why_not_stored
from log_processing.events.parsing import parse, source_bytes
from log_processing.table.items import MAX_ITEM_BYTES, Item, event_item
from log_processing.table.requests import item_plan
from log_processing.table.writer import Stored, TableWriter

from . import rows, summary

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from log_processing.delivery.request_plan import RequestPlan

    from .settings import Settings

ALERTS_IN_FLIGHT = 2
Refused = list[Refusal[Entry]]
_MAX_BAD_ROWS, _MAX_BAD_BYTES = 1000, 4 * 1024 * 1024


def process_partition(settings: Settings, batches: Iterator[Any]) -> Iterator[Any]:
    """The function of ``mapInArrow``: from records to rows with the outcome.

    Raises:
        NotDeliveredError: if events were not stored or not published.
    """
    connections = settings.requests_in_flight
    dynamodb = client("dynamodb", settings.region, settings.dynamodb_endpoint, connections)
    events = client("events", settings.region, settings.events_endpoint, ALERTS_IN_FLIGHT)
    stores: InFlight[Stored] = InFlight(settings.requests_in_flight)
    alerts: InFlight[Refused] = InFlight(ALERTS_IN_FLIGHT)
    with stores, alerts:
        work = PartitionWork(
            settings=settings,
            stores=stores,
            alerts=alerts,
            writer=TableWriter(dynamodb, settings.table, settings.write_timeout, stores.clock),
            publisher=Publisher(events, settings.bus, settings.write_timeout, alerts.clock),
            now_s=int(time.time()),
        )
        for batch in batches:
            for record in rows.records(batch):
                work.take(record)
                if work.has_many_bad:
                    yield rows.bad_rows(work.take_bad())
        work.finish()
    if bad := work.take_bad():
        yield rows.bad_rows(bad)
    yield rows.summary_row(summary.to_json(work.summary))


@dataclass
class PartitionWork:
    """The work on one partition, record by record.

    Attributes:
        now_s: seconds since 1970, for the age of events.
    """

    settings: Settings
    stores: InFlight[Stored]
    alerts: InFlight[Refused]
    writer: TableWriter
    publisher: Publisher
    now_s: int
    summary: summary.Summary = field(default_factory=summary.Summary)
    _items: RequestPlan[Item] = field(default_factory=item_plan)
    _entries: RequestPlan[Entry] = field(default_factory=entry_plan)
    _bad: list[BadEvent] = field(default_factory=list)
    _bad_bytes: int = 0

    def take(self, record: KinesisRecord) -> None:
        """Parse a record, and store its events as soon as a request is full."""
        self.summary.count_record(record)
        for parsed in parse(record):
            if isinstance(parsed, BadEvent):
                self._keep(parsed)
            else:
                self._plan(parsed)

    @property
    def has_many_bad(self) -> bool:
        """Whether it is time to return bad events, because they take memory."""
        return len(self._bad) >= _MAX_BAD_ROWS or self._bad_bytes >= _MAX_BAD_BYTES

    def take_bad(self) -> list[BadEvent]:
        """The bad events that were not returned yet."""
        bad, self._bad, self._bad_bytes = self._bad, [], 0
        return bad

    def finish(self) -> None:
        """Store and publish what is left, and wait until all is done."""
        self._store(self._items.take())
        for stored in self.stores.finish():
            self._after_store(stored)
        self._publish(self._entries.take())
        for refused in self.alerts.finish():
            self._keep_refused(refused)

    def _plan(self, event: LogEvent) -> None:
        problem = why_not_stored(event, self.settings.retention_days, self.now_s)
        if problem is None:
            item = event_item(event, self.settings.retention_days)
            if item.stored_bytes <= MAX_ITEM_BYTES:
                self._store(self._items.add(item))
                return
            size = f"{item.stored_bytes} bytes as an item of DynamoDB, at most {MAX_ITEM_BYTES}"
            problem = (reasons.TOO_LARGE, size)
        self._keep_unstored(event, *problem)

    def _keep_unstored(self, event: LogEvent, reason: str, detail: str) -> None:
        """Keep an event that is not stored. An error raises its alert nevertheless.

        Its own time may be too far away for EventBridge. So the alert has the time of arrival.
        """
        if event.is_error:
            self._publish(self._entries.add(entry(event, event.identity.arrival_ms / 1000)))
        self._keep_event(event, reason, detail)

    def _keep_event(self, event: LogEvent, reason: str, detail: str) -> None:
        self._keep(BadEvent(reason, detail, source_bytes(event.source), event.identity))

    def _keep(self, bad: BadEvent) -> None:
        self._bad.append(bad)
        self._bad_bytes += len(bad.data)
        self.summary.bad += 1

    def _store(self, items: Sequence[Item]) -> None:
        if items:
            for stored in self.stores.start(partial(self.writer.store, items)):
                self._after_store(stored)

    def _after_store(self, stored: Stored) -> None:
        for event in (item.event for item in stored.items):
            if event is not None:
                self.summary.count_stored(event, stored.at_ms)
                if event.is_error:
                    self._publish(self._entries.add(entry(event)))
        for refusal in stored.refused:
            if refusal.entry.event is not None:
                self._keep_unstored(refusal.entry.event, reasons.REFUSED, refusal.reason)

    def _publish(self, entries: Sequence[Entry]) -> None:
        if entries:
            for refused in self.alerts.start(partial(self.publisher.publish, entries)):
                self._keep_refused(refused)

    def _keep_refused(self, refused: Refused) -> None:
        for refusal in refused:
            self._keep_event(refusal.entry.event, reasons.ALERT_REFUSED, refusal.reason)
