"""Alerts: the severe events, as entries of EventBridge's requests, and how they are published."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from .sending import Answer, NotDeliveredError, Refused
from .table import event_keys, time_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from .events import Event
    from .sending import Delivery

SOURCE, DETAIL_TYPE = "log.stream.processor", "LogError"
MAX_ENTRIES = 10  # of a request
# A message of SQS has at most 256 KB, and EventBridge adds its envelope to the detail.
MAX_REQUEST_BYTES = 240 * 1024
MAX_MESSAGE = 4000  # characters
# Codes with which EventBridge refuses an entry each time. Any other code may pass.
_REFUSES_THE_JOB = {
    "AccessDeniedException",
    "InvalidAccountIdException",
    "NotAuthorizedForDetailTypeException",
    "NotAuthorizedForSourceException",
}
_REFUSES_THE_ENTRY = {"InvalidArgument", "MalformedDetail", "RedactionFailure"}


class Alert(NamedTuple):
    """An alert: the detail of an entry, as JSON. ``size`` is its bytes with the other fields."""

    event: Event
    detail: str
    size: int


def alert_of(event: Event) -> Alert:
    """The alert of an event, with its place in Kinesis and the keys of its item.

    It has the first 4000 characters of the message. ``shortened`` names what is not complete. If
    the context is too large, the alert has none.
    """
    record = event.record
    partition, sort = event_keys(event)
    detail: dict[str, Any] = {
        "timestamp": time_text(event.time_us),
        "level": event.level,
        "service": event.service,
        "message": event.message[:MAX_MESSAGE],
        "context": event.context,
        "item": {"pk": partition, "sk": sort},
        "kinesis": {
            "stream": record.stream,
            "shardId": record.shard_id,
            "sequenceNumber": record.sequence_number,
            "subSequenceNumber": record.sub_sequence_number,
            "event": event.index,
            "arrival": record.arrival_ms,
        },
        "shortened": ["message"] if len(event.message) > MAX_MESSAGE else [],
    }
    size = _size(detail)
    if size > MAX_REQUEST_BYTES:
        detail |= {"context": {}, "shortened": [*detail["shortened"], "context"]}
        size = _size(detail)
    return Alert(event, _text(detail), size)


def _text(detail: Mapping[str, Any]) -> str:
    return json.dumps(detail, ensure_ascii=False, separators=(",", ":"))


def _size(detail: Mapping[str, Any]) -> int:
    return len(_text(detail).encode()) + len(SOURCE) + len(DETAIL_TYPE) + 14  # for the time


def publish(
    alerts: Sequence[Alert], bus: str, events: Callable[[], Any], delivery: Delivery
) -> Sequence[Refused[Alert]]:
    """Publish the alerts of one request, each at least once: at most 10.

    Returns:
        The alerts that EventBridge refuses each time.

    Raises:
        NotDeliveredError: if EventBridge does not accept them, or refuses the job.
    """

    def send(part: Sequence[Alert]) -> Answer[Alert]:
        answer = events().put_events(Entries=[_entry(it, bus) for it in part])
        if not answer.get("FailedEntryCount"):
            return Answer()
        results = answer.get("Entries", [])
        failed = [(it, one) for it, one in zip(part, results, strict=False) if one.get("ErrorCode")]
        if len(results) != len(part) or not failed:
            return Answer(part, "an answer to another request")
        for _, one in failed:
            if one["ErrorCode"] in _REFUSES_THE_JOB:
                raise NotDeliveredError(f"{delivery.target}: the job is refused: {one}")
        final = [it for it in failed if it[1]["ErrorCode"] in _REFUSES_THE_ENTRY]
        again = [it for it in failed if it[1]["ErrorCode"] not in _REFUSES_THE_ENTRY]
        return Answer(
            [it for it, _ in again],
            str(again[-1][1]) if again else "",
            [Refused(it, f"{one['ErrorCode']}: {one.get('ErrorMessage')}") for it, one in final],
        )

    return delivery.deliver(alerts, send)


def _entry(alert: Alert, bus: str) -> dict[str, Any]:
    # The time of the event may be too far away for EventBridge.
    return {
        "EventBusName": bus,
        "Source": SOURCE,
        "DetailType": DETAIL_TYPE,
        "Time": alert.event.record.arrival_ms / 1000,
        "Detail": alert.detail,
    }
