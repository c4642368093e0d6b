"""Where another consumer stopped: positions in a file, and in checkpoints of other connectors."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spark_kinesis._errors import MigrationError
from spark_kinesis._times import from_millis
from spark_kinesis.tools.cli import read_instant

if TYPE_CHECKING:
    from spark_kinesis.tools.facts.checkpoints import Checkpoint
    from spark_kinesis.tools.facts.files import CheckpointFiles


class StopKind(Enum):
    """What a position means. The values are the words of Kinesis and of its Client Library."""

    AFTER = "AFTER_SEQUENCE_NUMBER"
    AT = "AT_SEQUENCE_NUMBER"
    AT_TIME = "AT_TIMESTAMP"
    TRIM_HORIZON = "TRIM_HORIZON"
    LATEST = "LATEST"
    SHARD_END = "SHARD_END"


@dataclass(frozen=True, kw_only=True)
class Stop:
    """A position that another consumer stored for a shard.

    Attributes:
        sequence_number: with ``AFTER`` the last record that was read, with ``AT`` the next one.
        sub_sequence_number: with ``AFTER`` the last user record that was read of an aggregate,
            counted from 0. ``None`` if the whole record was read.
    """

    kind: StopKind  # what the position means
    sequence_number: int | None = None
    sub_sequence_number: int | None = None
    time: datetime | None = None  # with ``AT_TIME`` the time of arrival from which records are read

    @property
    def text(self) -> str:
        """The position in words."""
        number = str(self.sequence_number)
        if self.sub_sequence_number is not None:
            number += f" ({self.sub_sequence_number})"
        return {
            StopKind.AFTER: f"after {number}",
            StopKind.AT: f"before {number}",
            StopKind.AT_TIME: f"before {self.time.isoformat() if self.time else None}",
            StopKind.TRIM_HORIZON: "nothing read",
            StopKind.LATEST: "nothing read, waits for new records",
            StopKind.SHARD_END: "read to its end",
        }[self.kind]


SHARD_END = Stop(kind=StopKind.SHARD_END)
TRIM_HORIZON = Stop(kind=StopKind.TRIM_HORIZON)


@dataclass(frozen=True, kw_only=True)
class StreamStops:
    """Where another consumer stopped in a stream.

    Attributes:
        created: creation time of the stream that it read, to the second. ``None`` if its positions
            do not say so.
    """

    stream: str  # name or ARN
    stops: Mapping[str, Stop]  # the positions, by shard ID
    created: datetime | None = None

    def with_latest_at(self, time: datetime | None) -> StreamStops:
        """The stops with a time in place of ``LATEST``. ``None`` changes nothing."""
        if time is None:
            return self
        at = Stop(kind=StopKind.AT_TIME, time=time)
        stops = {
            shard: at if stop.kind is StopKind.LATEST else stop
            for shard, stop in self.stops.items()
        }
        return replace(self, stops=stops)


def stop_of(
    word: str,
    number: str | None,
    where: str,
    *,
    sub: int | None = None,
    time: datetime | None = None,
) -> Stop:
    """A position from the words of Kinesis.

    Args:
        word: ``AFTER_SEQUENCE_NUMBER``, ``AT_SEQUENCE_NUMBER``, ``AT_TIMESTAMP``, ``TRIM_HORIZON``,
            ``LATEST`` or ``SHARD_END``, in upper or lower case.
        number: the sequence number, in decimal digits.
        where: where the position was found, for errors.
        sub: number of a user record in an aggregate. Negative for none.
        time: time of ``AT_TIMESTAMP``.

    Raises:
        MigrationError: for another word, or if the number or the time is missing.
    """
    try:
        kind = StopKind(word.strip().upper())
    except ValueError:
        words = ", ".join(it.value for it in StopKind)
        raise MigrationError(f"{where}: the position {word!r} is not one of {words}") from None
    if kind is StopKind.AT_TIME and time is None:
        raise MigrationError(f"{where}: AT_TIMESTAMP has no time: name it with --at TIME")
    if kind not in (StopKind.AFTER, StopKind.AT):
        return Stop(kind=kind, time=time if kind is StopKind.AT_TIME else None)
    if number is None or not number.strip().isdecimal():
        raise MigrationError(f"{where}: {number!r} is not a sequence number of decimal digits")
    is_inside = kind is StopKind.AFTER and sub is not None and sub >= 0
    return Stop(
        kind=kind, sequence_number=int(number), sub_sequence_number=sub if is_inside else None
    )


# --- A file that the user exported. ---

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
    rows: Iterable[Mapping[Any, Any]]
    if text.lstrip()[:1] in ("[", "{"):
        rows = _json(text, path)
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise MigrationError(f"{path} is not a JSON list of objects, one per shard")
    else:
        read = csv.DictReader(io.StringIO(text), skipinitialspace=True)
        rows = [{str(name).strip(): value for name, value in row.items()} for row in read]
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
        stops[str(shard)] = _row(row, where, at)
    if not found:
        raise MigrationError(f"{path} has no row with a position")
    return found


def _row(row: Mapping[str, Any], where: str, at: datetime | None) -> Stop:
    # JSON may have numbers; spreadsheets leave cells empty.
    fields = {it: str(row[it]).strip() for it in row if row[it] is not None}
    number, word = fields.get("sequenceNumber") or None, fields.get("position") or None
    if number is not None and word is None and number in _WORDS:
        word, number = _WORDS[number].value, None
    time, sub = fields.get("timestamp"), fields.get("subSequenceNumber")
    if sub and not sub.lstrip("-").isdecimal():
        raise MigrationError(f"{where}: subSequenceNumber {sub!r} is not a whole number")
    return stop_of(
        word or StopKind.AFTER.value,
        number,
        where,
        sub=int(sub) if sub else None,
        time=_time(time, where) if time else at,
    )


def _time(text: str, where: str) -> datetime:
    try:
        return read_instant(text)
    except ValueError as error:
        raise MigrationError(
            f"{where}: {text!r} is not a time with a time zone, such as 2026-01-02T03:04:05Z"
        ) from error


def _json(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise MigrationError(f"{where} is not JSON: {error}") from error


# --- Checkpoints of awslabs' and of Qubole's connector. ---
#
# Both log in Spark's ``offsets/<batch>`` where a micro-batch begins in each shard. Their executors
# store where it ended: one file per shard in a folder of the source, or with awslabs' connector one
# item per shard in DynamoDB. Their number of a micro-batch is in the logged offset, and need not be
# Spark's.

AWSLABS, QUBOLE = "shard-source", "shard-commit"
_METADATA = "metadata"
Ends = Callable[[str], Mapping[str, str]]
"""Returns the texts of the positions at the end of a micro-batch, by shard."""


def read_stops(checkpoint: Checkpoint, source: str, ends: Ends) -> StreamStops:
    """Where a query of another connector stopped, after its newest completed micro-batch.

    Args:
        checkpoint: the checkpoint of the query.
        source: number of the source in the query, from 0, or its name.
        ends: where its executors stored positions: ``ends_in_files`` or ``ends_in_dynamodb``.

    Raises:
        MigrationError: if the query never completed a micro-batch, or its positions are missing.
    """
    completed = checkpoint.completed()
    if not completed:
        raise MigrationError(
            f"the checkpoint {checkpoint.location} has no completed micro-batch: begin a new query "
            "with a starting position instead"
        )
    batch = checkpoint.batch(completed[-1])
    where = f"{checkpoint.location}/offsets/{batch.number}, source {source}"
    if source not in batch.offsets:
        raise MigrationError(f"{where}, has no offset")
    begun = _object(batch.offsets[source], where)
    head = begun.pop(_METADATA, None)
    if not isinstance(head, dict) or not {"batchId", "streamName"} <= set(head):
        raise MigrationError(
            f"{where}, is not an offset of this connector: it has no 'metadata' with 'batchId' and "
            "'streamName'"
        )
    ended = {
        shard: _object(text, f"the end of micro-batch {head['batchId']} in {shard}")
        for shard, text in ends(str(head["batchId"])).items()
    }
    stops = {name: _stored(ended.get(name, it), f"{where}, {name}") for name, it in begun.items()}
    return StreamStops(stream=str(head["streamName"]), stops=stops)


def ends_in_files(files: CheckpointFiles, folder: str) -> Ends:
    """Positions that executors stored in files of a folder."""

    def read(batch: str) -> Mapping[str, str]:
        place = f"{folder}/{batch}"
        # Hadoop's checksums are hidden files.
        names = [name for name in files.names(place) if not name.startswith((".", "_"))]
        if not names:
            raise MigrationError(
                f"{files.location}/{place} has no positions. If the query stored them elsewhere, "
                "name the folder of its option for the metadata path with --metadata, or its table "
                "in DynamoDB with --dynamodb-table."
            )
        return {name: files.read(f"{place}/{name}") or "" for name in names}

    return read


def ends_in_dynamodb(dynamodb: Any, table: str) -> Ends:
    """Positions that executors of awslabs' connector stored in a table of DynamoDB."""

    def read(batch: str) -> Mapping[str, str]:
        request: dict[str, Any] = {
            "TableName": table,
            "ConsistentRead": True,
            "KeyConditionExpression": "metadataKey = :batch",
            "ExpressionAttributeValues": {":batch": {"S": batch}},
        }
        try:
            pages = list(dynamodb.get_paginator("query").paginate(**request))
        except dynamodb.exceptions.ResourceNotFoundException as error:
            region = dynamodb.meta.region_name
            raise MigrationError(f"there is no table {table} in {region}") from error
        items = [it for page in pages for it in page["Items"]]
        if not items:
            raise MigrationError(
                f"table {table} has no positions of micro-batch {batch}. Name the table of the "
                "query's option for metadata in DynamoDB."
            )
        return {it["metadataSortKey"]["S"]: it["metadataValue"]["S"] for it in items}

    return read


def _stored(entry: Any, where: str) -> Stop:
    if not isinstance(entry, dict) or not isinstance(entry.get("iteratorType"), str):
        raise MigrationError(f"{where} has no 'iteratorType'")
    number = str(entry.get("iteratorPosition") or "")
    is_time = entry["iteratorType"].upper() == "AT_TIMESTAMP"
    is_whole = str(entry.get("isLast", "true")).lower() == "true"
    return stop_of(
        entry["iteratorType"],
        number,
        where,
        sub=None if is_whole else int(entry.get("subSequenceNumber", -1)),
        time=from_millis(int(number)) if is_time and number.isdecimal() else None,
    )


def _object(text: str, where: str) -> dict[str, Any]:
    node = _json(text, where)
    if not isinstance(node, dict):
        raise MigrationError(f"{where} is not a JSON object")
    return node
