"""From the bytes of a record to events. Nothing raises: what is not an event is a bad event.

A record is a JSON event, or a payload of a CloudWatch Logs subscription, which is compressed.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Union

from log_processing.table.keys import MAX_SERVICE_BYTES

from . import cloudwatch, reasons
from .event import BadEvent, KinesisIdentity, KinesisRecord, LogEvent
from .timestamps import to_micros

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_LEVEL_CHARACTERS = 128
MAX_NAME_BYTES = 65_535
_TEXTS = ("level", "service", "message")

Parsed = Union[LogEvent, BadEvent]


class _BadError(Exception):
    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


def parse(record: KinesisRecord) -> list[Parsed]:
    """The events of a record, in order. The same record gives the same events each time."""
    if cloudwatch.is_compressed(record.data):
        return _parse_cloudwatch(record)
    identity = _identity(record, 0)
    try:
        return [_event(_object(record.data), identity, record.data)]
    except _BadError as bad:
        return [BadEvent(bad.reason, str(bad), record.data, identity)]


def _parse_cloudwatch(record: KinesisRecord) -> list[Parsed]:
    try:
        payload = cloudwatch.read(record.data)
    except ValueError as error:
        whole = _identity(record, 0)
        return [BadEvent(reasons.UNPARSABLE, str(error), record.data, whole)]
    return [
        _log_event(payload, entry, _identity(record, index))
        for index, entry in enumerate(payload.events)
    ]


def _log_event(payload: cloudwatch.Payload, entry: Any, identity: KinesisIdentity) -> Parsed:
    try:
        return _event(_log_fields(payload, entry), identity, entry)
    except _BadError as bad:
        return BadEvent(bad.reason, str(bad), source_bytes(entry), identity)


def _log_fields(payload: cloudwatch.Payload, entry: Any) -> dict[str, Any]:
    """The fields of a log event. Its message may itself be a JSON event, which then counts."""
    if not isinstance(entry, dict) or not isinstance(entry.get("message"), str):
        raise _BadError(reasons.UNPARSABLE, "the log event has no text 'message'")
    message = entry["message"]
    if message.lstrip().startswith("{"):
        try:
            fields = _object(message)
        except _BadError:
            fields = {}
        if _is_event(fields):
            if not _is_text("service", fields.get("service")):
                fields["service"] = payload.log_group
            if to_micros(fields.get("timestamp")) is None:
                fields["timestamp"] = entry.get("timestamp")
            return fields
    return cloudwatch.plain_fields(payload, entry)


def _is_event(fields: Mapping[str, Any]) -> bool:
    """Whether the JSON message of a log event is an event, perhaps without service and time."""
    texts = all(_is_text(name, fields.get(name)) for name in ("level", "message"))
    return texts and isinstance(fields.get("context"), (dict, type(None)))


def source_bytes(source: Any) -> bytes:
    """An event as it was received: the bytes of its record, or JSON of the log event."""
    if isinstance(source, bytes):
        return source
    try:
        return json.dumps(source).encode()
    except RecursionError:  # as in `_text`
        return b"(nested too deeply to be written; the record in Kinesis has it)"


def _identity(record: KinesisRecord, index: int) -> KinesisIdentity:
    return KinesisIdentity(
        record.stream,
        record.shard_id,
        record.sequence_number,
        record.sub_sequence_number,
        index,
        record.arrival_ms,
    )


def _object(text: bytes | str) -> dict[str, Any]:
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _BadError(reasons.UNPARSABLE, f"not JSON: {error}") from None
    if not isinstance(fields, dict):
        raise _BadError(reasons.UNPARSABLE, "not a JSON object")
    return fields


def _is_text(name: str, value: Any) -> bool:
    """Whether a field has a value. Only a message may be empty."""
    return isinstance(value, str) and (bool(value) or name == "message")


def _event(fields: Mapping[str, Any], identity: KinesisIdentity, source: Any) -> LogEvent:
    texts = [fields.get(name) for name in _TEXTS]
    for name, text in zip(_TEXTS, texts):
        if not _is_text(name, text):
            raise _BadError(reasons.UNPARSABLE, f"'{name}' is missing or not a text")
    level, service, message = (_clean(str(text)) for text in texts)
    if len(service.encode()) > MAX_SERVICE_BYTES:
        raise _BadError(reasons.TOO_LARGE, f"'service' has more than {MAX_SERVICE_BYTES} bytes")
    if len(level) > MAX_LEVEL_CHARACTERS:
        detail = f"'level' has more than {MAX_LEVEL_CHARACTERS} characters"
        raise _BadError(reasons.TOO_LARGE, detail)
    context = _context(fields.get("context"))
    time_us = to_micros(fields.get("timestamp"))
    if time_us is None:
        raise _BadError(reasons.UNDATED, "'timestamp' is missing or not a time")
    return LogEvent(time_us, level, service, message, context, identity, source)


def _context(given: Any) -> dict[str, str]:
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise _BadError(reasons.UNPARSABLE, "'context' is not a JSON object")
    context = {_clean(name) or "(empty)": _text(value) for name, value in given.items()}
    if len(context) < len(given):
        raise _BadError(reasons.UNPARSABLE, "'context' has names that would be stored as one name")
    if any(len(name.encode()) > MAX_NAME_BYTES for name in context):
        raise _BadError(reasons.TOO_LARGE, "'context' has a name that is too long")
    return context


def _text(value: Any) -> str:
    if isinstance(value, str):
        return _clean(value)
    try:
        return json.dumps(value)
    except RecursionError:  # Python reads JSON that is nested more deeply than it can write
        raise _BadError(reasons.UNPARSABLE, "the JSON is nested too deeply") from None


def _clean(text: str) -> str:
    """A text that UTF-8 can encode. JSON may have half of a character, which becomes ``?``."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
