"""Where reading begins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from spark_kinesis.cli.times import FORMS, read_time
from spark_kinesis.tools.facts.streams import full_id

if TYPE_CHECKING:
    from spark_kinesis.tools.facts.streams import StreamShard

LATEST, TRIM_HORIZON = "LATEST", "TRIM_HORIZON"


@dataclass(frozen=True, kw_only=True, slots=True)
class Start:
    """The position at which each shard begins.

    Attributes:
        kind: ``LATEST``, ``TRIM_HORIZON`` or ``AT_TIMESTAMP``.
        time: for ``AT_TIMESTAMP``.
    """

    kind: str
    time: datetime | None = None

    @property
    def request(self) -> dict[str, Any]:
        """The arguments of ``GetShardIterator``."""
        asked: dict[str, Any] = {"ShardIteratorType": self.kind}
        return asked if self.time is None else {**asked, "Timestamp": self.time}

    @property
    def of_children(self) -> Start:
        """Where the children of a shard begin. All their records are later than the start."""
        return Start(kind=TRIM_HORIZON) if self.kind == LATEST else self


def parse_start(text: str, now: datetime) -> Start:
    """Parse ``latest``, ``trim_horizon``, a time such as ``2026-01-02T03:04Z``, or ``10m`` ago.

    Args:
        text: the text.
        now: current time, with a time zone.

    Raises:
        ValueError: for another text, or a time without a zone.
    """
    if text.lower() in ("latest", "trim_horizon"):
        return Start(kind=text.upper())
    try:
        return Start(kind="AT_TIMESTAMP", time=read_time(text, now))
    except ValueError:
        raise ValueError(f"--from must be latest, trim_horizon, {FORMS}, not {text!r}") from None


def first_shards(
    stream: str, shards: Sequence[StreamShard], start: Start, chosen: Sequence[str]
) -> list[str]:
    """The shards to begin with. Their children follow when they end.

    Args:
        stream: name of the stream, for errors.
        shards: all shards of the stream.
        start: where reading begins.
        chosen: IDs of shards, or their numbers; none for all.

    Raises:
        ValueError: for a shard that the stream does not have, or that receives no more records.
    """
    if chosen:
        return [_chosen(stream, shards, start, it) for it in chosen]
    if start.kind == LATEST:
        return [it.id for it in shards if it.is_open]
    listed = {it.id for it in shards}
    return [it.id for it in shards if not listed & set(it.parents)]


def _chosen(stream: str, shards: Sequence[StreamShard], start: Start, wanted: str) -> str:
    name = full_id((it.id for it in shards), wanted)
    for shard in shards:
        if name == shard.id:
            if start.kind == LATEST and not shard.is_open:
                children = ", ".join(it.id for it in shards if shard.id in it.parents)
                raise ValueError(
                    f"shard {shard.id} of stream {stream} is closed and receives no more records. "
                    f"Choose its children ({children}), or set --from to see its records"
                )
            return shard.id
    ids = ", ".join(it.id for it in shards)
    raise ValueError(f"stream {stream} has no shard {wanted!r}. Its shards: {ids}")
