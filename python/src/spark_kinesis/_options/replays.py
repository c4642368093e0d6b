"""Which micro-batches of a streaming query a replay reads again."""

from __future__ import annotations

import os
from collections.abc import Iterable

from .values import ABSENT, require


def replay_options(
    checkpoint: str | os.PathLike[str], batches: int | Iterable[int], source: int | str | None
) -> dict[str, str]:
    """The options of a replay.

    Raises:
        TypeError: if a value has the wrong type. The message names the argument.
        ValueError: if there are no batches, a batch number is negative, or the checkpoint is blank.
    """
    require("checkpoint", checkpoint, str, os.PathLike)
    require("source", source, int, str, ABSENT)
    path = os.fspath(checkpoint)
    if not path.strip():
        raise ValueError("checkpoint is blank: give the checkpointLocation of the query")
    options = {"replayCheckpoint": path, "replayBatches": batches_text(batches)}
    return options if source is None else {**options, "replaySource": str(source)}


def batches_text(batches: int | Iterable[int]) -> str:
    """Batch numbers as text for the option, such as ``3,120-124``."""
    given = list(batches) if isinstance(batches, Iterable) else [batches]
    for number in given:
        require("batches", number, int)
        if number < 0:
            raise ValueError(f"batches contains {number}: the first batch of a query is 0")
    if not given:
        raise ValueError("batches is empty: give the numbers of the batches to read again")
    ranges: list[tuple[int, int]] = []
    for number in sorted(set(given)):
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1] = (ranges[-1][0], number)
        else:
            ranges.append((number, number))
    return ",".join(f"{first}" if first == last else f"{first}-{last}" for first, last in ranges)
