"""A micro-batch, as its file in Spark's offset log describes it. No I/O."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from spark_kinesis._errors import CheckpointError
from spark_kinesis._times import from_millis

from .logged import parse


@dataclass(frozen=True, kw_only=True)
class Batch:
    """A micro-batch in the offset log.

    Attributes:
        number: its ID, from 0.
        planned: when Spark planned it. ``None`` if the log does not say so.
        sources: all sources: their numbers as text, counted from 0, or their names if Spark stores
            names.
        offsets: the end of each source as JSON text. A source without an end is absent.
        metadata: Spark's own entries, such as the watermark.
    """

    number: int
    planned: datetime | None
    sources: tuple[str, ...]
    offsets: Mapping[str, str]
    metadata: Mapping[str, Any]


def read_batch(number: int, text: str, where: str) -> Batch:
    """A micro-batch from its file.

    Args:
        number: its ID.
        text: the file.
        where: its path, for the error.

    Raises:
        CheckpointError: as ``logged.parse``, or if its metadata is not JSON.
    """
    logged = parse(text, where)
    metadata = json_object(logged.metadata or "{}", where)
    planned = metadata.get("batchTimestampMs")
    return Batch(
        number=number,
        planned=from_millis(planned) if planned else None,
        sources=tuple(logged.offsets),
        offsets={source: end for source, end in logged.offsets.items() if end is not None},
        metadata=metadata,
    )


def json_object(text: str, where: str) -> dict[str, Any]:
    """A JSON object. Empty for JSON of another type.

    Raises:
        CheckpointError: if the text is not JSON.
    """
    try:
        node = json.loads(text)
    except ValueError as error:
        raise CheckpointError(f"{where} is not JSON: {error}") from error
    return node if isinstance(node, dict) else {}
