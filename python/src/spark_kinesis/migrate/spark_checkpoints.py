"""Positions in the checkpoints of two other connectors: awslabs' and Qubole's.

Both log in Spark's ``offsets/<batch>`` where a micro-batch begins in each shard. Their executors
store where it ended, one file per shard, in a folder of the source: awslabs'
``shard-source/<number>/<shard>``, Qubole's ``shard-commit/<number>/<shard>``. The number is in the
logged offset, and need not be that of Spark's micro-batch. The forms are those of
``KinesisV2SourceOffset`` and ``KinesisSourceOffset`` in their source.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from spark_kinesis._errors import MigrationError
from spark_kinesis._times import from_millis

from .stops import Stop, StreamStops, stop_of

if TYPE_CHECKING:
    from spark_kinesis.checkpoint import Checkpoint, CheckpointFiles

AWSLABS, QUBOLE = "shard-source", "shard-commit"
_METADATA = "metadata"


def read_stops(
    checkpoint: Checkpoint, folder: str, source: str, metadata: CheckpointFiles | None = None
) -> StreamStops:
    """Where a query of another connector stopped, after its newest completed micro-batch.

    Args:
        checkpoint: the checkpoint of the query.
        folder: ``AWSLABS`` or ``QUBOLE``.
        source: number of the source in the query, from 0, or its name.
        metadata: where the executors store positions, if the query has an option for it. The
            default is the folder of the source in the checkpoint.

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
    head = begun.get(_METADATA)
    if not isinstance(head, dict) or not {"batchId", "streamName"} <= set(head):
        raise MigrationError(
            f"{where}, is not an offset of this connector: it has no 'metadata' with 'batchId' and "
            "'streamName'"
        )
    files = checkpoint.files if metadata is None else metadata
    place = f"sources/{source}/{folder}" if metadata is None else folder
    ended = _ended(files, f"{place}/{head['batchId']}")
    shards = {name: it for name, it in begun.items() if name != _METADATA}
    stops = {name: _stop(ended.get(name, it), f"{where}, {name}") for name, it in shards.items()}
    return StreamStops(stream=str(head["streamName"]), stops=stops)


def _ended(files: CheckpointFiles, place: str) -> dict[str, dict[str, Any]]:
    """Where a micro-batch ended, by shard. Hadoop's checksums are hidden files."""
    names = [name for name in files.names(place) if not name.startswith((".", "_"))]
    if not names:
        raise MigrationError(
            f"{files.location}/{place} has no positions. If the query stored them elsewhere, name "
            "the folder of its option for the metadata path with --metadata. Positions in DynamoDB "
            "can be exported: see spark-kinesis migrate file."
        )
    found = {}
    for name in names:
        text = files.read(f"{place}/{name}")
        found[name] = _object(text or "", f"{files.location}/{place}/{name}")
    return found


def _stop(entry: Any, where: str) -> Stop:
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
