"""Can a query continue from its checkpoint, how far is it behind, and when does it lose records?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

from spark_kinesis import CheckpointError, SparkKinesisError
from spark_kinesis._offsets import Progress, stream_name, stream_names
from spark_kinesis._times import duration_text, parsed, time_text
from spark_kinesis.tools.facts.checkpoints import next_positions
from spark_kinesis.tools.facts.files import shown
from spark_kinesis.tools.facts.lags import lag, probe_each
from spark_kinesis.tools.facts.losses import created_again, lost_at
from spark_kinesis.tools.facts.streams import (
    ancestors,
    descendants,
    describe,
    list_shards,
)

from .finding import Finding, Section
from .refusals import call_errors, stopped, text_of

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient

    from spark_kinesis._offsets import ShardOffset, SourceOffset, StreamOffset
    from spark_kinesis.tools.facts.checkpoints import Checkpoint
    from spark_kinesis.tools.facts.lags import Probe
    from spark_kinesis.tools.facts.streams import StreamShard, StreamSummary

    from .setup import Setup

CHECKPOINT = Section("checkpoint")
MOST_PROBES = 100
_FIRST = datetime.min.replace(tzinfo=timezone.utc)
# Less than this part of the retention period is too little to react.
_NEAR = 0.1


def checkpoint_check(setup: Setup) -> list[Finding]:
    """The log, and each stream of each Kinesis source."""
    location = setup.checkpoint or ""
    try:
        checkpoint = setup.connection.checkpoint(location)
        positions = next_positions(checkpoint)
        if not positions:
            raise CheckpointError(f"the checkpoint {checkpoint.location} has no Kinesis source")
        findings = log_findings(checkpoint, positions, setup.stream, setup.clock.now())
    except call_errors(OSError, ValueError) as error:
        # No permission, a damaged file, or credentials that cannot be loaded.
        seen = f"the checkpoint {location} cannot be read: {error}"
        if isinstance(error, SparkKinesisError):
            seen = str(error)
        remedy = "Check the location and its permissions, or see docs/how-to/restart.md."
        return [CHECKPOINT.problem("log", shown(seen), remedy)]
    names = stream_names({arn for it in positions.values() for arn in it.streams})
    for source, position in positions.items():
        for arn, offset in position.streams.items():
            name = names[arn] + (f" (source {source})" if len(positions) > 1 else "")
            findings += _of_stream(setup, name, arn, offset)
    return findings


def _of_stream(setup: Setup, name: str, arn: str, offset: StreamOffset) -> list[Finding]:
    try:
        facts = look_at(setup.kinesis(arn), name, arn, offset, setup.clock.now, setup.say)
    except call_errors() as error:
        return [stopped(CHECKPOINT, "streams", error)]
    return stream_findings(facts, setup.clock.now())


def log_findings(
    checkpoint: Checkpoint,
    positions: Mapping[str, SourceOffset],
    stream: str | None,
    now: datetime,
) -> list[Finding]:
    """What the log alone shows.

    Args:
        checkpoint: the checkpoint.
        positions: where each Kinesis source continues.
        stream: name or ARN of the stream to which the checkpoint should belong, or ``None``.
        now: the time.
    """
    planned, completed = checkpoint.state()
    newest = checkpoint.batch(planned[-1])
    when = "" if newest.planned is None else f", {duration_text(now - newest.planned)} ago"
    seen = f"is readable. Spark planned micro-batch {newest.number} last{when}"
    restart = f"micro-batch {newest.number} is not completed, and runs again"
    if newest.number in completed:
        restart = f"the query continues after micro-batch {newest.number}"
    findings = [
        CHECKPOINT.ok("log", f"{checkpoint.location} {seen}"),
        CHECKPOINT.ok("restart", restart),
    ]
    if stream is not None:
        arns = list(dict.fromkeys(arn for it in positions.values() for arn in it.streams))
        findings.append(_owner(arns, stream))
    return findings


def _owner(arns: Sequence[str], stream: str) -> Finding:
    owners = f"the checkpoint belongs to {', '.join(arns)}"
    if any(stream in (arn, stream_name(arn)) for arn in arns):
        return CHECKPOINT.ok("streams", owners)
    return CHECKPOINT.problem(
        "streams",
        f"{owners}, not to {stream}",
        f"Name the streams of the checkpoint. Or, to read {stream}, use a new checkpoint location.",
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

    def lag(self, now: datetime) -> timedelta:
        """The age of the first record that the query has not read, if the shard was probed."""
        return (self.probe and lag(self.offset, [self.probe], now)) or timedelta()

    @property
    def is_finished(self) -> bool:
        """Whether the query has read it to its end."""
        return self.offset.progress is Progress.FINISHED


@dataclass(frozen=True, kw_only=True)
class StreamFacts:
    """A stream of the checkpoint."""

    name: str  # name of the stream, with the source if the query has several
    summary: StreamSummary  # what Kinesis says about it
    offset: StreamOffset  # how far the query has read it
    shards: Sequence[ShardFact]  # its shards in the checkpoint
    listed: Sequence[StreamShard]  # its shards in Kinesis

    @property
    def unplanned(self) -> tuple[str, ...]:
        """Listed shards that the query would never read.

        The query reads a shard if the shard or one of its ancestors is in the checkpoint. It has
        read a shard whose descendants are there.
        """
        by_id, known = {it.id: it for it in self.listed}, set(self.offset.shards)
        planned = known | descendants(by_id, known) | ancestors(by_id, known)
        return tuple(it for it in by_id if it not in planned)


def look_at(  # noqa: PLR0917 the facts about one stream
    client: KinesisClient,
    name: str,
    arn: str,
    offset: StreamOffset,
    now: Callable[[], datetime],
    say: Callable[[str], None],
) -> StreamFacts:
    """Ask Kinesis about a stream of a checkpoint. The calls change nothing.

    It reads one record of each shard, at most of the hundred that were read the longest ago. Each
    read is one of the five per second of its shard.
    """
    summary, listed = describe(client, arn), list_shards(client, arn)
    ids, known = {it.id for it in listed}, offset.shards
    finished = {it for it, place in known.items() if place.progress is Progress.FINISHED}
    readable = [
        it
        for it, place in known.items()
        if it in ids and place.progress is not Progress.FINISHED and finished >= {*place.waits_for}
    ]
    oldest = sorted(readable, key=lambda it: (known[it].complete_as_of or _FIRST, it))[:MOST_PROBES]

    def advance(done: int, total: int) -> None:
        if done < total:
            say(f"checkpoint: {oldest[done]}")  # the next answer

    places = [(it, known[it]) for it in oldest]
    probes = dict(zip(oldest, probe_each(client, arn, places, now, advance), strict=True))
    shards = [_fact(it, place, probes.get(it), is_listed=it in ids) for it, place in known.items()]
    return StreamFacts(name=name, summary=summary, offset=offset, shards=shards, listed=listed)


def _fact(
    shard: str, offset: ShardOffset, found: Probe | Exception | None, *, is_listed: bool
) -> ShardFact:
    if isinstance(found, Exception):
        return ShardFact(id=shard, offset=offset, is_listed=is_listed, refusal=text_of(found))
    return ShardFact(id=shard, offset=offset, is_listed=is_listed, probe=found)


def stream_findings(facts: StreamFacts, now: datetime) -> list[Finding]:
    """Whether the query can continue in a stream, how far it is behind, and what it loses."""
    again = created_again(facts.name, facts.summary.created, parsed(facts.offset.created))
    if again is not None:
        remedy = (
            "The records of the first one are gone. To read it, start the query with a new "
            "checkpoint location."
        )
        return [CHECKPOINT.problem("streams", again.removesuffix("."), remedy)]
    findings = [_lag(facts, now), _loss(facts, now)]
    unplanned = facts.unplanned
    if not unplanned:
        return findings
    never = CHECKPOINT.problem(
        "shards",
        f"the query would never read {len(unplanned)} shards of {facts.name}: neither they nor "
        "their ancestors are in the checkpoint",
        "To read them from their oldest record, set failOnDataLoss to false. Or use a new "
        "checkpoint location.",
        unplanned,
    )
    return [never, *findings]


def _lag(facts: StreamFacts, now: datetime) -> Finding:
    """The largest lag, and a line per shard."""
    lines = tuple(f"{it.id}: {_place(it, now)}" for it in facts.shards)
    probed = [it for it in facts.shards if it.probe is not None]
    if not probed:
        refusals = [it.refusal for it in facts.shards if it.refusal is not None]
        if not refusals:
            is_done = all(it.offset.progress is Progress.FINISHED for it in facts.shards)
            seen = "is read to its end" if is_done else "has no shard that can be read yet"
            return CHECKPOINT.ok("lag", f"{facts.name} {seen}", lines)
        seen = f"no shard of {facts.name} could be read: {refusals[0]}"
        return CHECKPOINT.unknown("lag", seen)
    worst = max(probed, key=lambda it: it.lag(now))
    seen = f"{facts.name} is at most {duration_text(worst.lag(now))} behind, in {worst.id}"
    if not worst.lag(now):
        # Records may arrive at this moment: the clock of the service is rounded down.
        new = sum(it.probe is not None and it.probe.arrived is not None for it in probed)
        rest = f", except {new} {'record' if new == 1 else 'records'}" if new else ""
        seen = f"{facts.name} is read to its end{rest}"
    unread = sum(it.probe is None and not it.is_finished for it in facts.shards)
    if unread:
        seen += f". {unread} of {len(facts.shards)} shards were not read"
    return CHECKPOINT.ok("lag", seen, lines)


def _place(fact: ShardFact, now: datetime) -> str:
    found = fact.probe
    if fact.is_finished:
        return "finished"
    if not fact.is_listed:
        return "Kinesis no longer has it"
    if found is None and fact.offset.waits_for:
        return f"waits for {', '.join(fact.offset.waits_for)}"
    if found is None:
        return fact.refusal or "was not read"
    if found.arrived is None and not fact.lag(now):
        return f"read to its {'end' if found.is_end else 'newest record'}"
    return f"{duration_text(fact.lag(now))} behind"


def _loss(facts: StreamFacts, now: datetime) -> Finding:
    """When a restart begins to lose records."""
    retention = facts.summary.retention
    unfinished = [it for it in facts.shards if not it.is_finished]
    times = {it.id: time for it in unfinished if (time := it.lost_at(retention)) is not None}
    lost = [it for it in unfinished if not it.is_listed or (it.id in times and times[it.id] <= now)]
    if lost:
        return _lost(facts, lost)
    if not times:
        if any(it.offset.progress in (Progress.AFTER, Progress.FROM) for it in facts.shards):
            seen = f"the checkpoint does not say up to when {facts.name} was read completely"
            return CHECKPOINT.unknown("loss", seen)
        seen = f"{facts.name} is read from its oldest record, so nothing can be lost"
        return CHECKPOINT.ok("loss", seen)
    shard = min(times, key=lambda it: times[it])
    left = times[shard] - now
    seen = f"a restart of {facts.name} before {time_text(times[shard])} loses nothing"
    if left > retention * _NEAR:
        return CHECKPOINT.ok("loss", f"{seen}: {duration_text(left)} are left")
    return CHECKPOINT.problem(
        "loss",
        f"{seen}. Only {duration_text(left)} are left, because of {shard}",
        "Start the query now, or increase the retention period of the stream first.",
    )


def _lost(facts: StreamFacts, shards: Sequence[ShardFact]) -> Finding:
    retention = facts.summary.retention

    def line(fact: ShardFact) -> str:
        if not fact.is_listed:
            return f"{fact.id}: Kinesis no longer has it, and the query has not finished it"
        time = fact.lost_at(retention)
        since = "an unknown time" if time is None else time_text(time - retention)
        return f"{fact.id}: records that arrived after {since} may be lost"

    return CHECKPOINT.problem(
        "loss",
        f"a restart fails with KINESIS_DATA_LOSS: records of {len(shards)} shards of {facts.name} "
        f"may have expired before the query read them, because they are kept for "
        f"{duration_text(retention)}",
        "To continue with the records that are left, set failOnDataLoss to false. An increased "
        "retention period does not bring expired records back.",
        tuple(line(it) for it in shards),
    )
