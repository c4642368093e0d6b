"""Positions in a JSON or CSV file that the user exported from another consumer."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from spark_kinesis._errors import MigrationError
from spark_kinesis._times import from_iso, from_millis

from .stops import Stop, StopKind, stop_of

Stops = dict[str, dict[str, Stop]]
"""Positions by stream and shard ID."""

# The words that Flink stores in place of a sequence number, and what they mean.
_FLINK = {
    "EARLIEST_SEQUENCE_NUM": StopKind.TRIM_HORIZON,
    "LATEST_SEQUENCE_NUM": StopKind.LATEST,
    "AT_TIMESTAMP_SEQUENCE_NUM": StopKind.AT_TIME,
    "SHARD_ENDING_SEQUENCE_NUM": StopKind.SHARD_END,
}
_WORDS = {**{it.value: it for it in StopKind}, **_FLINK}
_FIELDS = ("stream", "shard", "position", "sequenceNumber", "subSequenceNumber", "timestamp")


def read_positions(path: str, stream: str | None, at: datetime | None = None) -> Stops:
    """Positions from a file.

    Each row has a field ``shard``, and ``sequenceNumber`` or ``position``. A row without
    ``position`` means that the record with this sequence number was read.

    Args:
        path: a JSON file with a list of objects, or a CSV file whose first line names the columns.
        stream: name or ARN of the stream of rows without a field ``stream``.
        at: time of ``AT_TIMESTAMP`` in rows without a field ``timestamp``.

    Raises:
        MigrationError: if the file cannot be read. The message names the row.
    """
    try:
        text = Path(path).expanduser().read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise MigrationError(f"the positions in {path} cannot be read: {error}") from error
    rows = _json(text, path) if text.lstrip()[:1] in ("[", "{") else _csv(text)
    return stops_of_rows(rows, path, stream, at)


def stops_of_rows(
    rows: Iterable[Mapping[str, Any]], path: str, stream: str | None, at: datetime | None
) -> Stops:
    """Positions from rows. ``read_positions`` says what they contain.

    Raises:
        MigrationError: if a row is incomplete, or names a shard again.
    """
    found: Stops = {}
    for number, row in enumerate(rows, 1):
        where = f"{path}, row {number}"
        unknown = sorted(set(row) - set(_FIELDS))
        if unknown:
            raise MigrationError(f"{where}: {unknown[0]!r} is not one of {', '.join(_FIELDS)}")
        name, shard = row.get("stream") or stream, row.get("shard")
        if not name:
            raise MigrationError(f"{where} has no stream: add the field, or name it with --stream")
        if not shard:
            raise MigrationError(f"{where} has no shard")
        stops = found.setdefault(str(name), {})
        if shard in stops:
            raise MigrationError(f"{where} names {shard} of stream {name} again")
        stops[str(shard)] = _stop(row, where, at)
    if not found:
        raise MigrationError(f"{path} has no row with a position")
    return found


def _stop(row: Mapping[str, Any], where: str, at: datetime | None) -> Stop:
    number, word = _text(row.get("sequenceNumber")), _text(row.get("position"))
    if number is not None and word is None and number in _WORDS:
        word, number = _WORDS[number].value, None
    time, sub = _text(row.get("timestamp")), _text(row.get("subSequenceNumber"))
    if sub is not None and not sub.lstrip("-").isdecimal():
        raise MigrationError(f"{where}: subSequenceNumber {sub!r} is not a whole number")
    return stop_of(
        word or StopKind.AFTER.value,
        number,
        where,
        sub=None if sub is None else int(sub),
        time=at if time is None else read_time(time, where),
    )


def read_time(text: str, where: str) -> datetime:
    """A time from ISO 8601 text with a time zone, or from milliseconds since 1970.

    Raises:
        MigrationError: if the text is neither.
    """
    try:
        found = from_millis(int(text)) if text.isdecimal() else from_iso(text)
    except (ValueError, OverflowError):
        found = None
    if found is None or found.tzinfo is None:
        raise MigrationError(
            f"{where}: {text!r} is not a time with a time zone, such as 2026-01-02T03:04:05Z"
        )
    return found


def _text(value: Any) -> str | None:
    """A field as text. JSON may have numbers; spreadsheets leave cells empty."""
    text = "" if value is None else str(value).strip()
    return text or None


def _json(text: str, path: str) -> list[dict[str, Any]]:
    try:
        rows = json.loads(text)
    except ValueError as error:
        raise MigrationError(f"{path} is not JSON: {error}") from error
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise MigrationError(f"{path} is not a JSON list of objects, one per shard")
    return rows


def _csv(text: str) -> list[dict[str, Any]]:
    rows = csv.DictReader(io.StringIO(text), skipinitialspace=True)
    return [{str(name).strip(): value for name, value in row.items()} for row in rows]
