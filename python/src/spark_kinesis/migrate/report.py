"""Shows what a query will read first, per shard."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from spark_kinesis._times import instant

from .joint import Joint, Verdict

if TYPE_CHECKING:
    from spark_kinesis.stream import StreamRecord

    from .migration import StreamMigration

_WORDS = {
    Verdict.CONTINUES: "continues",
    Verdict.BEGINS: "begins",
    Verdict.LOST: "LOST: see below",
    Verdict.UNPROVEN: "UNPROVEN: see below",
}


def lines(migrations: Sequence[StreamMigration]) -> Iterator[str]:
    """Three lines per shard that the query will read. Sequence numbers are too long for a table."""
    for migration in migrations:
        for joint in migration.joints:
            stop, first = joint.start.stop, joint.first
            yield f"{migration.stream.name} {joint.start.shard.id}: {words(joint)}"
            yield f"  it stopped    {'not named' if stop is None else stop.text}"
            if first is None:
                yield "  first record  none yet"
            else:
                arrived = instant(first.arrived)
                yield f"  first record  {first.sequence_number}, which arrived at {arrived}"
        counts = f"{len(migration.joints)} shards to read, {len(migration.plan.read)} already read"
        yield f"{migration.stream.name}: {counts}"


def words(joint: Joint) -> str:
    """What happens at a joint."""
    if joint.verdict is Verdict.SKIPS:
        text = f"begins NOW: records before {joint.offset.time} are not read"
    elif joint.verdict is Verdict.REPEATS:
        text = f"repeats {joint.again} user records: subSequenceNumber 0 to {joint.again - 1}"
    else:
        text = _WORDS[joint.verdict]
    waits_for = joint.offset.waits_for
    return text if not waits_for else f"{text}; waits for {', '.join(waits_for)}"


def document(migrations: Sequence[StreamMigration]) -> list[dict[str, Any]]:
    """The report for machines, one object per stream."""
    return [
        {
            "stream": it.stream.arn,
            "shards": [_shard(joint) for joint in it.joints],
            "alreadyRead": list(it.plan.read),
            "losses": it.losses,
        }
        for it in migrations
    ]


def _shard(joint: Joint) -> dict[str, Any]:
    stop = joint.start.stop
    return {
        "shard": joint.start.shard.id,
        "stopped": None if stop is None else stop.text,
        "begins": joint.offset.place,
        "joint": joint.verdict,
        "lastRead": _record(joint.last),
        "firstRecord": _record(joint.first),
        "userRecordsAgain": joint.again,
        "waitsFor": list(joint.offset.waits_for),
    }


def _record(record: StreamRecord | None) -> dict[str, Any] | None:
    if record is None:
        return None
    arrived: datetime = record.arrived
    return {"sequenceNumber": str(record.sequence_number), "arrived": arrived}
