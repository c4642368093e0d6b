"""Can a query continue from its checkpoint, how far is it behind, and when does it lose records?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

from spark_kinesis import CheckpointError
from spark_kinesis._times import duration_text, parsed, time_text
from spark_kinesis.tools.facts.checkpoints import next_positions
from spark_kinesis.tools.facts.losses import created_again, lost_at
from spark_kinesis.tools.facts.offsets import Progress
from spark_kinesis.tools.facts.records import probe
from spark_kinesis.tools.facts.streams import (
    ancestors,
    descendants,
    describe,
    list_shards,
    stream_name,
)

from .aws import text_of
from .finding import Finding, ok, problem, unknown

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient

    from spark_kinesis.tools.facts.checkpoints import Checkpoint
    from spark_kinesis.tools.facts.offsets import ShardOffset, StreamOffset
    from spark_kinesis.tools.facts.records import Probe
    from spark_kinesis.tools.facts.streams import StreamShard, StreamSummary

SECTION = "checkpoint"
MOST_PROBES = 100
_FIRST = datetime.min.replace(tzinfo=timezone.utc)
# Less than this part of the retention period is too little to react.
_NEAR = 0.1


@dataclass(frozen=True, kw_only=True)
class LogFacts:
    """What the log of a checkpoint says.

    Attributes:
        streams: where the query continues, by the source (its number or name) and the ARN of the
            stream. Several sources may read the same stream.
    """

    location: str  # folder of the checkpoint
    query_id: str | None  # Spark's ID of the query, or ``None``
    planned: int  # ID of the newest micro-batch
    planned_at: datetime | None  # when Spark planned it. ``None`` if the log does not say so.
    completed: int | None  # ID of the newest micro-batch that was completed. ``None`` if none was.
    streams: Mapping[tuple[str, str], StreamOffset]

    @property
    def arns(self) -> list[str]:
        """The ARNs of the streams, each once."""
        return list(dict.fromkeys(arn for _, arn in self.streams))

    @property
    def has_several_sources(self) -> bool:
        """Whether several Kinesis sources read streams, so that findings name the source."""
        return len({source for source, _ in self.streams}) > 1


def read_log(checkpoint: Checkpoint) -> LogFacts:
    """Read where the query continues: after its newest completed micro-batch."""
    planned, completed = checkpoint.state()
    newest = checkpoint.batch(planned[-1] if planned else 0)
    positions = next_positions(checkpoint)
    if not positions:
        raise CheckpointError(f"the checkpoint {checkpoint.location} has no Kinesis source")
    return LogFacts(
        location=checkpoint.location,
        query_id=checkpoint.query_id,
        planned=newest.number,
        planned_at=newest.planned,
        completed=completed[-1] if completed else None,
        streams={
            (source, arn): offset
            for source, position in positions.items()
            for arn, offset in position.streams.items()
        },
    )


@dataclass(frozen=True, kw_only=True)
class ShardFact:
    """A shard of the checkpoint."""

    id: str  # ID of the shard
    offset: ShardOffset  # how far the query has read it
    is_listed: bool  # whether Kinesis still lists it
    probe: Probe | None = None  # how far the query is behind. ``None`` if the shard was not probed.
    refusal: str | None = None  # why the probe failed, or ``None``

    def lost_at(self, retention: timedelta) -> datetime | None:
        """When a restart begins to lose records of the shard. ``None`` if unknown, or never."""
        unread = None if self.probe is None else self.probe.arrived
        return lost_at(self.offset, retention, unread)

    @property
    def is_read(self) -> bool:
        """Whether the query has begun to read it, and has not finished."""
        return self.offset.progress in (Progress.AFTER, Progress.FROM)

    @property
    def is_finished(self) -> bool:
        """Whether the query has read it to its end."""
        return self.offset.progress is Progress.FINISHED


@dataclass(frozen=True, kw_only=True)
class StreamFacts:
    """A stream of the checkpoint.

    Attributes:
        source: number or name of the source that reads it. ``None`` if the query has only one.
    """

    summary: StreamSummary  # what Kinesis says about it
    offset: StreamOffset  # how far the query has read it
    shards: Sequence[ShardFact]  # its shards in the checkpoint
    listed: Sequence[StreamShard]  # its shards in Kinesis
    source: str | None = None

    @property
    def name(self) -> str:
        """Name of the stream, with the source if the query has several."""
        stream = self.summary.name
        return stream if self.source is None else f"{stream} (source {self.source})"

    @property
    def unplanned(self) -> list[str]:
        """Listed shards that the query would never read.

        The query reads a shard if the shard or one of its ancestors is in the checkpoint. It has
        read a shard whose descendants are there.
        """
        by_id, known = {it.id: it for it in self.listed}, set(self.offset.shards)
        planned = known | descendants(by_id, known) | ancestors(by_id, known)
        return [name for name in by_id if name not in planned]


def look_at(
    client: KinesisClient, arn: str, offset: StreamOffset, on_shard: Callable[[str], None]
) -> StreamFacts:
    """Ask Kinesis about a stream of a checkpoint. The calls change nothing.

    It reads one record of each shard, at most of the hundred that were read the longest ago. Each
    read is one of the five per second of its shard.
    """
    summary, listed = describe(client, arn), list_shards(client, arn)
    ids, known = {it.id for it in listed}, offset.shards
    oldest_first = sorted(known, key=lambda it: (known[it].complete_as_of or _FIRST, it))
    probed = [it for it in oldest_first if it in ids and not known[it].waits_for][:MOST_PROBES]
    shards = []
    for name, place in known.items():
        if name in probed:
            on_shard(name)
            shards.append(_probed(client, arn, name, place))
        else:
            shards.append(ShardFact(id=name, offset=place, is_listed=name in ids))
    return StreamFacts(summary=summary, offset=offset, shards=shards, listed=listed)


def _probed(client: KinesisClient, arn: str, name: str, offset: ShardOffset) -> ShardFact:
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 optional

    try:
        found = probe(client, arn, name, offset)
    except (BotoCoreError, ClientError) as error:
        return ShardFact(id=name, offset=offset, is_listed=True, refusal=text_of(error))
    return ShardFact(id=name, offset=offset, is_listed=True, probe=found)


def log_findings(log: LogFacts, stream: str | None, now: datetime) -> list[Finding]:
    """What the log alone shows."""
    when = "" if log.planned_at is None else f", {duration_text(now - log.planned_at)} ago"
    seen = f"{log.location} is readable. Spark planned micro-batch {log.planned} last{when}"
    restart = (
        f"the query continues after micro-batch {log.planned}"
        if log.completed == log.planned
        else f"micro-batch {log.planned} is not completed, and runs again"
    )
    findings = [ok(SECTION, "log", seen), ok(SECTION, "restart", restart)]
    if stream is not None:
        findings.append(_owner(log, stream))
    return findings


def _owner(log: LogFacts, stream: str) -> Finding:
    arns = ", ".join(log.arns)
    if any(stream in (arn, stream_name(arn)) for arn in log.arns):
        return ok(SECTION, "streams", f"the checkpoint belongs to {arns}")
    return problem(
        SECTION,
        "streams",
        f"the checkpoint belongs to {arns}, not to {stream}",
        f"Name the streams of the checkpoint. Or, to read {stream}, use a new checkpoint location.",
    )


def stream_findings(facts: StreamFacts, now: datetime) -> list[Finding]:
    """Whether the query can continue in a stream, how far it is behind, and what it loses."""
    recorded, created = parsed(facts.offset.created), facts.summary.created
    if recorded is not None and created_again(facts.name, created, recorded) is not None:
        again = problem(
            SECTION,
            "streams",
            f"stream {facts.name} was deleted and created again: the one in the checkpoint "
            f"was created at {time_text(recorded)}, this one at {time_text(created)}",
            "The records of the first one are gone. To read it, start the query with a new "
            "checkpoint location.",
        )
        return [again]
    unplanned = facts.unplanned
    never = problem(
        SECTION,
        "shards",
        f"the query would never read {len(unplanned)} shards of {facts.name}: neither "
        "they nor their ancestors are in the checkpoint",
        "To read them from their oldest record, set failOnDataLoss to false. Or use a new "
        "checkpoint location.",
        tuple(unplanned),
    )
    return [*([never] if unplanned else []), _lag(facts, now), _loss(facts, now)]


def _lag(facts: StreamFacts, now: datetime) -> Finding:
    """The largest lag, and a line per shard."""
    lines = tuple(f"{it.id}: {_place(it, now)}" for it in facts.shards)
    probed = {it.id: it.probe for it in facts.shards if it.probe is not None}
    if not probed:
        refusals = [it.refusal for it in facts.shards if it.refusal is not None]
        if not refusals:
            return ok(SECTION, "lag", f"no shard of {facts.name} can be read yet", lines)
        return unknown(SECTION, "lag", f"no shard of {facts.name} could be read: {refusals[0]}")
    lags = {shard: found.age(now) for shard, found in probed.items()}
    worst = max(lags, key=lambda it: lags[it])
    seen = f"{facts.name} is at most {duration_text(lags[worst])} behind, in {worst}"
    if not lags[worst]:
        # Records may arrive at this moment: the clock of the service is rounded down.
        new = sum(it.arrived is not None for it in probed.values())
        rest = f", except {new} {'record' if new == 1 else 'records'}" if new else ""
        seen = f"{facts.name} is read to its end{rest}"
    if len(probed) < len(facts.shards):
        seen += f". {len(facts.shards) - len(probed)} of {len(facts.shards)} shards were not read"
    return ok(SECTION, "lag", seen, lines)


def _place(fact: ShardFact, now: datetime) -> str:
    found = fact.probe
    if fact.is_finished:
        return "finished"
    if not fact.is_listed:
        return "Kinesis no longer has it"
    if fact.offset.waits_for:
        return f"waits for {', '.join(fact.offset.waits_for)}"
    if found is None:
        return fact.refusal or "was not read"
    return "read to its end" if found.is_end else _behind(found, now)


def _behind(found: Probe, now: datetime) -> str:
    lag = found.age(now)
    if found.arrived is None and not lag:
        return "read to its newest record"
    return f"{duration_text(lag)} behind"


def _loss(facts: StreamFacts, now: datetime) -> Finding:
    """When a restart begins to lose records."""
    retention = facts.summary.retention
    lost_at = {it: it.lost_at(retention) for it in facts.shards if not it.is_finished}
    lost = [it for it in lost_at if not it.is_listed]
    lost += [
        it for it, time in lost_at.items() if it.is_listed and time is not None and time <= now
    ]
    if lost:
        return _lost(facts, lost)
    times = {it.id: time for it, time in lost_at.items() if time is not None}
    if not times:
        name = facts.name
        if any(it.is_read for it in facts.shards):
            seen = f"the checkpoint does not say up to when {name} was read completely"
            return unknown(SECTION, "loss", seen)
        seen = f"{name} is read from its oldest record, so nothing can be lost"
        return ok(SECTION, "loss", seen)
    shard = min(times, key=lambda it: times[it])
    left = times[shard] - now
    seen = f"a restart of {facts.name} before {time_text(times[shard])} loses nothing"
    if left > retention * _NEAR:
        return ok(SECTION, "loss", f"{seen}: {duration_text(left)} are left")
    return problem(
        SECTION,
        "loss",
        f"{seen}. Only {duration_text(left)} are left, because of {shard}",
        "Start the query now, or increase the retention period of the stream first.",
    )


def _lost(facts: StreamFacts, shards: list[ShardFact]) -> Finding:
    retention = facts.summary.retention

    def line(fact: ShardFact) -> str:
        if not fact.is_listed:
            return f"{fact.id}: Kinesis no longer has it, and the query has not finished it"
        time = fact.lost_at(retention)
        since = "an unknown time" if time is None else time_text(time - retention)
        return f"{fact.id}: records that arrived after {since} may be lost"

    return problem(
        SECTION,
        "loss",
        f"a restart fails with KINESIS_DATA_LOSS: records of {len(shards)} shards of {facts.name} "
        f"may have expired before the query read them, because they are kept for "
        f"{duration_text(retention)}",
        "To continue with the records that are left, set failOnDataLoss to false. An increased "
        "retention period does not bring expired records back.",
        tuple(line(it) for it in shards),
    )
