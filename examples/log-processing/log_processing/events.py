"""From the bytes of a Kinesis record to log events, by the table in the README.

Nothing here raises or looks at the clock: what is no event becomes a ``BadEvent``, and the same
record gives the same result each time.
"""

from __future__ import annotations

import json
import re
import zlib
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

UNPARSABLE, UNDATED, TOO_LARGE = "unparsable", "undated", "too large"
EXPIRED, FROM_THE_FUTURE = "expired", "from the future"
REFUSED, ALERT_REFUSED = "refused by DynamoDB", "alert refused"
REASONS = (UNPARSABLE, UNDATED, TOO_LARGE, EXPIRED, FROM_THE_FUTURE, REFUSED, ALERT_REFUSED)

SEVERE = frozenset({"error", "fatal", "critical"})
MAX_SERVICE_BYTES, MAX_LEVEL_BYTES, MAX_NAME_BYTES = 512, 128, 65_535
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
DAY_US = 24 * 60 * 60 * 1_000_000

_FIRST_US, _LAST_US = -62_135_596_800_000_000, 253_402_300_799_999_999  # the years 1 to 9999
_TIME = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?"
    r" ?(?:[Zz]|([+-])([01]\d|2[0-3]):?([0-5]\d)?)?",
    re.ASCII,
)
_LEVELS = "TRACE|DEBUG|INFO|NOTICE|WARNING|WARN|ERROR|CRITICAL|FATAL"
# A word in capitals is a level. In lower case it may be part of a sentence, so only
# level=error, "level":"error" and [error] are.
_LEVEL = re.compile(
    rf"\b({_LEVELS})\b|\b(?i:level=\"?({_LEVELS}))\b"
    rf"|\blevel\"\s*:\s*\"(?i:({_LEVELS}))\"|\[(?i:({_LEVELS}))\]"
)
_LEVEL_WITHIN = 256  # characters
_GZIP = b"\x1f\x8b"
_MAX_UNPACKED, _MAX_LOG_EVENTS = 16 * 1024 * 1024, 50_000


@dataclass(frozen=True)
class Record:
    """A record of the stream, and what identifies it."""

    stream: str
    shard_id: str
    sequence_number: str
    sub_sequence_number: int
    arrival_ms: int
    data: bytes


@dataclass(frozen=True)
class Event:
    """A log event.

    Attributes:
        index: its number in the record, from 0. Bad events count, too.
        data: the event as it was received.
    """

    time_us: int  # since 1970
    level: str
    service: str
    message: str
    context: Mapping[str, str]
    record: Record
    index: int
    data: bytes

    @property
    def is_severe(self) -> bool:
        """Whether it raises an alert: ERROR, FATAL or CRITICAL, in upper or lower case."""
        return self.level.casefold() in SEVERE


@dataclass(frozen=True)
class BadEvent:
    """An event that is kept in the folder of bad events, with one of ``REASONS``."""

    reason: str
    detail: str
    record: Record
    index: int
    data: bytes


class _BadError(Exception):
    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


def read(record: Record) -> Iterator[Event | BadEvent]:
    """The events of a record: one JSON event, or those of a CloudWatch Logs payload."""
    if not record.data.startswith(_GZIP):
        yield _event_or_bad(record, 0, record.data, lambda: _object(record.data))
        return
    try:
        payload = _payload(record.data)
    except _BadError as bad:
        yield BadEvent(bad.reason, str(bad), record, 0, record.data)
        return
    for index, entry in enumerate(payload["logEvents"]):
        try:
            data = json.dumps(entry).encode()
        except RecursionError:
            data = record.data
        yield _event_or_bad(record, index, data, partial(_log_fields, payload, entry))


def _event_or_bad(
    record: Record, index: int, data: bytes, fields: Callable[[], Mapping[str, Any]]
) -> Event | BadEvent:
    try:
        return _event(fields(), record, index, data)
    except _BadError as bad:
        return BadEvent(bad.reason, str(bad), record, index, data)


def _event(fields: Mapping[str, Any], record: Record, index: int, data: bytes) -> Event:
    for name in ("level", "service", "message"):
        if not _is_text(fields, name):
            raise _BadError(UNPARSABLE, f"'{name}' is missing or not a string")
    level, service, message = (_clean(fields[it]) for it in ("level", "service", "message"))
    _limit("service", service, MAX_SERVICE_BYTES)
    _limit("level", level, MAX_LEVEL_BYTES)
    context = _context(fields.get("context"))
    time_us = micros(fields.get("timestamp"))
    if time_us is None:
        raise _BadError(UNDATED, "'timestamp' is missing or not a time")
    return Event(time_us, level, service, message, context, record, index, data)


def _context(given: Any) -> dict[str, str]:
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise _BadError(UNPARSABLE, "'context' is not a JSON object")
    try:
        context = {
            _clean(name) or "(empty)": _clean(it) if isinstance(it, str) else json.dumps(it)
            for name, it in given.items()
        }
    except RecursionError:
        raise _BadError(UNPARSABLE, "the JSON is nested too deeply") from None
    if len(context) < len(given):
        raise _BadError(UNPARSABLE, "'context' has names that would be stored as one name")
    for name in context:
        _limit("context", name, MAX_NAME_BYTES)
    return context


def _is_text(fields: Mapping[str, Any], name: str) -> bool:
    """Whether a field is a text. Only a message may be empty."""
    value = fields.get(name)
    return isinstance(value, str) and (bool(value) or name == "message")


def _limit(name: str, text: str, most: int) -> None:
    if len(text.encode()) > most:
        raise _BadError(TOO_LARGE, f"'{name}' has a string of more than {most} bytes")


def _clean(text: str) -> str:
    """A text that UTF-8 can encode. JSON may have half of a character, which becomes ``?``."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _object(text: bytes | str) -> dict[str, Any]:
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _BadError(UNPARSABLE, f"not JSON: {error}") from None
    if not isinstance(fields, dict):
        raise _BadError(UNPARSABLE, "not a JSON object")
    return fields


def _payload(data: bytes) -> dict[str, Any]:
    """The payload of a CloudWatch Logs subscription."""
    unpack = zlib.decompressobj(wbits=31)  # with the header of gzip
    try:
        text = unpack.decompress(data, _MAX_UNPACKED)
    except zlib.error as error:
        raise _BadError(UNPARSABLE, f"not gzip: {error}") from None
    if not unpack.eof or unpack.unused_data:
        detail = f"the compressed data is cut, has more behind its end, or exceeds {_MAX_UNPACKED}"
        raise _BadError(UNPARSABLE, f"{detail} bytes")
    payload = _object(text)
    if payload.get("messageType") == "CONTROL_MESSAGE":  # CloudWatch tests the stream
        return {"logEvents": []}
    if payload.get("messageType") != "DATA_MESSAGE":
        raise _BadError(UNPARSABLE, "'messageType' is neither DATA_MESSAGE nor CONTROL_MESSAGE")
    if not (_is_text(payload, "logGroup") and isinstance(payload.get("logStream"), str)):
        raise _BadError(UNPARSABLE, "'logGroup' or 'logStream' is missing")
    events = payload.get("logEvents")
    if not isinstance(events, list) or len(events) > _MAX_LOG_EVENTS:
        raise _BadError(UNPARSABLE, f"'logEvents' is no list of at most {_MAX_LOG_EVENTS} events")
    return payload


def _log_fields(payload: Mapping[str, Any], entry: Any) -> dict[str, Any]:
    """The fields of a log event. If its message is itself a JSON event, that event counts."""
    if not isinstance(entry, dict) or not isinstance(entry.get("message"), str):
        raise _BadError(UNPARSABLE, "the log event has no string 'message'")
    message = entry["message"]
    if message.lstrip().startswith("{"):
        try:
            fields = _object(message)
        except _BadError:
            fields = {}
        is_event = _is_text(fields, "level") and _is_text(fields, "message")
        if is_event and isinstance(fields.get("context"), (dict, type(None))):
            if not _is_text(fields, "service"):
                fields["service"] = payload["logGroup"]
            if micros(fields.get("timestamp")) is None:
                fields["timestamp"] = entry.get("timestamp")
            return fields
    level = _LEVEL.search(message[:_LEVEL_WITHIN])
    context = {"logStream": payload["logStream"], "id": entry.get("id")}
    return {
        "timestamp": entry.get("timestamp"),
        "level": level[level.lastindex or 0] if level else "INFO",
        "service": payload["logGroup"],
        "message": message,
        "context": {name: value for name, value in context.items() if value is not None},
    }


def micros(value: object) -> int | None:
    """Microseconds since 1970 of an ISO 8601 text or of milliseconds; ``None`` for all else.

    A text without an offset is in UTC. Digits after the microsecond are cut.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        time_us = value * 1000
    elif isinstance(value, str) and (found := _TIME.fullmatch(value)):
        *numbers, fraction, sign, hours, minutes = found.groups()
        year, month, day, hour, minute, second = (int(it or 0) for it in numbers)
        try:
            at = datetime(year, month, day, hour, minute, second, tzinfo=timezone.utc)
        except ValueError:
            return None
        offset = timedelta(hours=int(hours or 0), minutes=int(minutes or 0))
        since = at - EPOCH + (offset if sign == "-" else -offset)
        time_us = since // timedelta(microseconds=1) + int(f"{fraction or 0:0<6}"[:6])
    else:
        return None
    return time_us if _FIRST_US <= time_us <= _LAST_US else None


def why_not_stored(event: Event, retention_days: int) -> tuple[str, str] | None:
    """Reason and detail if the time of an event is too far from its arrival."""
    arrival_us = event.record.arrival_ms * 1000
    if event.time_us + retention_days * DAY_US <= arrival_us:
        return EXPIRED, f"more than {retention_days} days old when its record arrived"
    if event.time_us > arrival_us + DAY_US:
        return FROM_THE_FUTURE, "more than a day after its record arrived"
    return None
