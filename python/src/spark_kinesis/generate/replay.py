"""Writes records again, with the times between them: the rows of ``spark-kinesis tail --json``."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from spark_kinesis._times import from_iso

from .work import FRAME_SECONDS, REQUEST_BYTES, Times

if TYPE_CHECKING:
    from .progress import Goal, Progress
    from .writer import Entry, Writer

_REQUEST_RECORDS = 500


@dataclass(frozen=True, kw_only=True, slots=True)
class Recorded:
    """A record to write again.

    Attributes:
        at: seconds after the first record.
        key: partition key.
        data: data.
    """

    at: float
    key: str
    data: bytes


def parse_rows(lines: Iterable[str], name: str) -> list[Recorded]:
    """The records of a file, in the order of their arrival.

    Records of a shard keep their order, also if their arrival times go back. A row without a
    partition key, as with the record distribution AUTO, gets its sequence number as a key. Explicit
    hash keys are not kept.

    Args:
        lines: the lines of the file.
        name: name of the file, for errors.

    Raises:
        ValueError: for a line that is not such a row.
    """
    rows: list[tuple[float, str, bytes]] = []
    newest: dict[str, float] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            arrived = from_iso(row["arrived"]).timestamp()
            shard, data = str(row["shard"]), base64.b64decode(row["data"], validate=True)
            key = row["partitionKey"] or str(row["sequenceNumber"])
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(
                f"--replay: line {number} of {name} is not a row of spark-kinesis tail --json: "
                f"{error!r}"
            ) from None
        newest[shard] = max(newest.get(shard, arrived), arrived)
        rows.append((newest[shard], key, data))
    rows.sort(key=lambda it: it[0])
    return [Recorded(at=at - rows[0][0], key=key, data=data) for at, key, data in rows]


def replay(
    rows: Sequence[Recorded],
    writer: Writer,
    times: Times,
    progress: Progress,
    *,
    speed: float,
    goal: Goal,
) -> None:
    """Write records when they are due. After a delay, it writes what is due at once.

    Args:
        rows: the records.
        writer: writes the records.
        times: the clocks.
        progress: shows the progress.
        speed: how many times as fast as they arrived.
        goal: when to stop before the last one.

    Raises:
        GeneratorError: if Kinesis does not accept the records.
    """
    begun, made = times.now(), 0
    while made < len(rows):
        elapsed = times.now() - begun
        progress.show(writer.tally, elapsed)
        left = goal.left(made, elapsed)
        if left == 0:
            return
        wait = rows[made].at / speed - elapsed
        if wait > 0:
            times.sleep(min(wait, FRAME_SECONDS))
            continue
        most = _REQUEST_RECORDS if left is None else min(left, _REQUEST_RECORDS)
        batch = _due(rows, made, most, elapsed * speed)
        writer.write(batch)
        made += len(batch)


def _due(rows: Sequence[Recorded], first: int, most: int, until: float) -> list[Entry]:
    """The records up to a time that fit into a request, at least one."""
    batch: list[Entry] = []
    size = 0
    for row in rows[first : first + most]:
        size += len(row.key.encode()) + len(row.data)
        if batch and (row.at > until or size > REQUEST_BYTES):
            break
        batch.append((row.key, row.data))
    return batch


def only_with_replay(asked: Any, defaults: dict[str, Any]) -> None:
    """Refuse options that say what to make, because a replay writes what is there.

    Args:
        asked: the options.
        defaults: their defaults.

    Raises:
        ValueError: names the option.
    """
    for name in ("rate", "shape", "period", "peak", "template", "keys", "hot_share", "hot_keys"):
        if getattr(asked, name) != defaults[name]:
            raise ValueError(
                f"--replay and --{name.replace('_', '-')} exclude each other: a replay writes the "
                "records of the file. Leave out one of them"
            )
    if not 0 < asked.speed < float("inf"):
        raise ValueError(f"--speed must be a number above 0, not {asked.speed}")
