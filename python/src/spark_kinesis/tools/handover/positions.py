"""Where another consumer stopped: its positions, and those in checkpoints of other connectors."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from spark_kinesis._errors import MigrationError
from spark_kinesis._offsets import Progress, ShardOffset
from spark_kinesis._times import from_millis, instant

if TYPE_CHECKING:
    from spark_kinesis.tools.facts.checkpoints import Checkpoint
    from spark_kinesis.tools.facts.files import CheckpointFiles


@dataclass(frozen=True, kw_only=True)
class Stop(ShardOffset):
    """A position that another consumer stored for a shard.

    ``AT`` without a time does not say which records were read.

    Attributes:
        sub: with ``AFTER`` the last user record that was read of an aggregate, counted from 0.
            ``None`` if the whole record was read.
    """

    sub: int | None = None

    @property
    def is_vague(self) -> bool:
        """Whether it does not say which records were read."""
        return self.progress is Progress.AT and self.time is None

    @property
    def words(self) -> str:
        """The position for people."""
        place = "at a time that is not stored" if self.is_vague else self.place
        return place if self.sub is None else f"{place} ({self.sub})"


Stops = dict[str, dict[str, Stop]]
"""Positions by the name or ARN of the stream, and the shard ID."""

_PROGRESS = {
    "AFTER_SEQUENCE_NUMBER": Progress.AFTER,
    "AT_SEQUENCE_NUMBER": Progress.FROM,
    "AT_TIMESTAMP": Progress.AT,
    "TRIM_HORIZON": Progress.TRIM_HORIZON,
    "LATEST": Progress.AT,
    "SHARD_END": Progress.FINISHED,
}


def stop_of(
    word: str | None,
    number: str | None,
    where: str,
    *,
    sub: int | None = None,
    time: datetime | None = None,
) -> Stop:
    """A position from the words of Kinesis. The number may be a word, too.

    Args:
        word: what the number means, in upper or lower case; default: the last record that was read.
        number: the sequence number, in decimal digits.
        where: where the position was found, for errors.
        sub: number of a user record in an aggregate. Negative for none.
        time: time of ``AT_TIMESTAMP``.
    """
    if word is None:
        word = number if number in _PROGRESS else "AFTER_SEQUENCE_NUMBER"
    progress = _PROGRESS.get(word.strip().upper())
    if progress is None:
        words = ", ".join(_PROGRESS)
        raise MigrationError(f"{where}: the position {word!r} is not one of {words}")
    if progress not in (Progress.AFTER, Progress.FROM):
        is_time = word.strip().upper() == "AT_TIMESTAMP"
        return Stop(progress=progress, time=instant(time) if time and is_time else None)
    if number is None or not number.strip().isdecimal():
        raise MigrationError(f"{where}: {number!r} is not a sequence number of decimal digits")
    is_inside = progress is Progress.AFTER and sub is not None and sub >= 0
    return Stop(progress=progress, sequence_number=int(number), sub=sub if is_inside else None)


# --- Checkpoints of awslabs' and of Qubole's connector. ---
#
# Both log in Spark's ``offsets/<batch>`` where a micro-batch begins in each shard. Their executors
# store where it ended: one file per shard in a folder, or with awslabs' connector one item per
# shard in DynamoDB. Their number of a micro-batch is in the logged offset, and need not be Spark's.

_FOLDERS = ("shard-source", "shard-commit")  # awslabs', Qubole's
_METADATA = "metadata"
Ends = Callable[[str], Mapping[str, str]]
"""Returns the texts of the positions at the end of a micro-batch, by shard."""


def read_stops(
    checkpoint: Checkpoint, source: str | None = None, ends: Ends | None = None
) -> Stops:
    """Where a query of awslabs' or Qubole's connector stopped, after its newest completed batch.

    Args:
        checkpoint: the checkpoint of the query.
        source: number or name of the source in that query, if it has several.
        ends: where its executors stored positions: ``ends_in_files`` or ``ends_in_dynamodb``;
            default: in the checkpoint.

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
    where = f"{checkpoint.location}/offsets/{batch.number}"
    found = [it for it in batch.offsets if source in (None, it)]
    if len(found) != 1:
        sources = ", ".join(batch.offsets) or "none"
        raise MigrationError(
            f"{where}: name one source of the old query with --from-source. It has an offset of "
            f"these: {sources}"
        )
    (source,) = found
    where += f", source {source}"
    begun = _object(batch.offsets[source], where)
    head = begun.pop(_METADATA, None)
    if not isinstance(head, dict) or not {"batchId", "streamName"} <= set(head):
        raise MigrationError(
            f"{where}, is not an offset of these connectors: it has no 'metadata' with 'batchId' "
            "and 'streamName'"
        )
    ends = ends or ends_in_files(checkpoint.files, f"sources/{source}/")
    ended = {
        shard: _object(text, f"the end of micro-batch {head['batchId']} in {shard}")
        for shard, text in ends(str(head["batchId"])).items()
    }
    stops = {name: _stored(ended.get(name, it), f"{where}, {name}") for name, it in begun.items()}
    return {str(head["streamName"]): stops}


def ends_in_files(files: CheckpointFiles, root: str = "") -> Ends:
    """Positions that executors stored in files of a folder."""

    def read(batch: str) -> Mapping[str, str]:
        for folder in _FOLDERS:
            place = f"{root}{folder}/{batch}"
            # Hadoop's checksums are hidden files.
            names = [name for name in files.names(place) if not name.startswith((".", "_"))]
            if names:
                return {name: files.read(f"{place}/{name}") or "" for name in names}
        raise MigrationError(
            f"{files.location}/{root} has no positions of micro-batch {batch}. If the query stored "
            "them elsewhere, name the folder of its option for the metadata path with --metadata, "
            "or its table in DynamoDB with --dynamodb-table."
        )

    return read


def ends_in_dynamodb(dynamodb: Any, table: str) -> Ends:
    """Positions that executors of awslabs' connector stored in a table of DynamoDB."""

    def read(batch: str) -> Mapping[str, str]:
        pages = dynamodb.get_paginator("query").paginate(
            TableName=table,
            ConsistentRead=True,
            KeyConditionExpression="metadataKey = :batch",
            ExpressionAttributeValues={":batch": {"S": batch}},
        )
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
    try:
        node = json.loads(text)
    except ValueError as error:
        raise MigrationError(f"{where} is not JSON: {error}") from error
    if not isinstance(node, dict):
        raise MigrationError(f"{where} is not a JSON object")
    return node
