"""Payloads of CloudWatch Logs subscriptions: compressed JSON with many log events."""

from __future__ import annotations

import json
import re
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MAX_BYTES = 16 * 1024 * 1024
MAX_EVENTS = 50_000  # far more than CloudWatch sends in 1 MB, and few enough for a worker's memory
_GZIP = b"\x1f\x8b"
_GZIP_WINDOW = 31  # tells zlib to expect the header of gzip
_LEVELS = "TRACE|DEBUG|INFO|NOTICE|WARNING|WARN|ERROR|CRITICAL|FATAL"
# A word in capitals is a level. In lower case, only level=error, "level":"error" and [error] are:
# other words may be part of a sentence.
_LEVEL = re.compile(
    rf"\b({_LEVELS})\b"
    rf"|\b(?i:level=\"?({_LEVELS}))\b"
    rf"|\blevel\"\s*:\s*\"(?i:({_LEVELS}))\""
    rf"|\[(?i:({_LEVELS}))\]"
)
_LEVEL_WITHIN = 256  # characters at the start of a message


@dataclass(frozen=True)
class Payload:
    """A payload, with nothing of its events checked.

    Attributes:
        events: empty for a control message, which CloudWatch sends to test the stream.
    """

    log_group: str
    log_stream: str
    events: Sequence[Any]


def is_compressed(data: bytes) -> bool:
    """Whether a record has the first two bytes of gzip."""
    return data.startswith(_GZIP)


def read(data: bytes) -> Payload:
    """The payload of a record.

    Raises:
        ValueError: if it is damaged, more than 16 MiB, or of another kind.
    """
    try:
        fields = json.loads(_decompress(data))
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None
    if not isinstance(fields, dict):
        raise ValueError("the compressed record is not a JSON object")  # noqa: TRY004
    if fields.get("messageType") == "CONTROL_MESSAGE":
        return Payload("", "", ())
    if fields.get("messageType") != "DATA_MESSAGE":
        raise ValueError("'messageType' is neither DATA_MESSAGE nor CONTROL_MESSAGE")
    names, events = (fields.get("logGroup"), fields.get("logStream")), fields.get("logEvents")
    if not isinstance(names[0], str) or not isinstance(names[1], str):
        raise ValueError("'logGroup' or 'logStream' is missing")  # noqa: TRY004
    if not isinstance(events, list):
        raise ValueError("'logEvents' is not a list")  # noqa: TRY004
    if len(events) > MAX_EVENTS:
        raise ValueError(f"more than {MAX_EVENTS} log events")
    return Payload(names[0], names[1], events)


def _decompress(data: bytes) -> bytes:
    unpack = zlib.decompressobj(_GZIP_WINDOW)
    try:
        text = unpack.decompress(data, MAX_BYTES + 1)
    except zlib.error as error:
        raise ValueError(f"not gzip: {error}") from None
    if len(text) > MAX_BYTES:
        raise ValueError(f"more than {MAX_BYTES} bytes when decompressed")
    if not unpack.eof:
        raise ValueError("the compressed record ends too early")
    if unpack.unused_data:
        raise ValueError("there is data after the end of the compressed record")
    return text


def plain_fields(payload: Payload, entry: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an event whose message is not JSON of ours.

    The level is the first one that the message contains, otherwise INFO.
    """
    message = entry["message"]
    level = _LEVEL.search(message[:_LEVEL_WITHIN])
    context = {"logStream": payload.log_stream, "id": entry.get("id")}
    return {
        "timestamp": entry.get("timestamp"),
        "level": level[level.lastindex or 0] if level else "INFO",
        "service": payload.log_group,
        "message": message,
        "context": {name: value for name, value in context.items() if value is not None},
    }
