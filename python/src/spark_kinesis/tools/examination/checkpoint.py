"""Can a query continue from its checkpoint, how far is it behind, and when does it lose records?"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from spark_kinesis import CheckpointError, SparkKinesisError
from spark_kinesis._offsets import Progress, stream_name, stream_names
from spark_kinesis._times import duration_text, parsed, time_text
from spark_kinesis.tools.facts.checkpoints import next_positions
from spark_kinesis.tools.facts.files import shown
from spark_kinesis.tools.facts.lags import Probe, lag, probe_each
from spark_kinesis.tools.facts.losses import created_again, lost_at
from spark_kinesis.tools.facts.streams import describe, list_shards, named

from .finding import Finding, Section, call_errors, text_of

if TYPE_CHECKING:
    from spark_kinesis._offsets import ShardOffset, SourceOffset, StreamOffset
    from spark_kinesis.tools.facts.checkpoints import Checkpoint
    from spark_kinesis.tools.facts.streams import StreamSummary

    from .finding import Setup

CHECKPOINT = Section("checkpoint")
MOST_PROBES = 100
_FIRST = datetime.min.replace(tzinfo=timezone.utc)
# Less than this part of the retention period is too little to react.
_NEAR = 0.1


def checkpoint_check(setup: Setup) -> Iterator[Finding]:
    """The log, and each stream of each Kinesis source."""
    location = setup.checkpoint or ""
    try:
        checkpoint = setup.connection.checkpoint(location)
        positions = next_positions(checkpoint)
        if not positions:
            raise CheckpointError(f"the checkpoint {checkpoint.location} has no Kinesis source")
        yield from log_findings(checkpoint, positions, setup.stream, setup.now())
    except call_errors(OSError, ValueError) as error:
        # No permission, a damaged file, or credentials that cannot be loaded.
        seen = f"the checkpoint {location} cannot be read: {error}"
        if isinstance(error, SparkKinesisError):
            seen = str(error)
        remedy = "Check the location and its permissions, or see docs/how-to/restart.md."
        yield CHECKPOINT.problem("log", shown(seen), remedy)
        return
    names = stream_names({arn for it in positions.values() for arn in it.streams})
    for source, position in positions.items():
        for arn, offset in position.streams.items():
            name = names[arn] + (f" (source {source})" if len(positions) > 1 else "")
            try:
                found = look_at(setup, name, arn, offset)
            except call_errors() as error:
                yield CHECKPOINT.refused("streams", error, f"a call for {name}")
            else:
                yield from stream_findings(found, found.summary.server_time or setup.now())


def log_findings(
    checkpoint: Checkpoint,
    positions: Mapping[str, SourceOffset],
    stream: str | None,
    now: datetime,
) -> Iterator[Finding]:
    """What the log alone shows: is it readable, and does it belong to a stream?"""
    planned, completed = checkpoint.state()
    seen = "The query has not started yet"
    if planned:
        newest = checkpoint.batch(planned[-1])
        when = "" if newest.planned is None else f", {duration_text(now - newest.planned)} ago"
        restart = "is not completed, and runs again"
        if newest.number in completed:
            restart = "is completed, and the query continues after it"
        seen = f"Spark planned micro-batch {newest.number} last{when}. It {restart}"
    yield CHECKPOINT.ok("log", f"{checkpoint.location} is readable. {seen}")
    if stream is None:
        return
    arns = list(dict.fromkeys(arn for it in positions.values() for arn in it.streams))
    owners = f"the checkpoint belongs to {', '.join(arns)}"
    if any(stream in (arn, stream_name(arn)) for arn in arns):
        yield CHECKPOINT.ok("streams", owners)
    else:
        remedy = f"Name one of these streams. To read {stream}, use a new checkpoint location."
        yield CHECKPOINT.problem("streams", f"{owners}, not to {stream}", remedy)


@dataclass(frozen=True, kw_only=True)
class StreamFacts:
    """A stream of the checkpoint."""

    name: str  # name of the stream, with the source if the query has several
    summary: StreamSummary  # what Kinesis says about it
    offset: StreamOffset  # how far the query has read it
    listed: Collection[str]  # IDs of its shards in Kinesis
    probes: Mapping[str, Probe | Exception]  # what reads after the positions have found


def _unfinished(offset: StreamOffset) -> dict[str, ShardOffset]:
    shards = offset.shards.items()
    return {name: it for name, it in shards if it.progress is not Progress.FINISHED}


def look_at(setup: Setup, name: str, arn: str, offset: StreamOffset) -> StreamFacts:
    """Ask Kinesis about a stream of a checkpoint. The calls change nothing.

    It reads one record of each shard, at most of the hundred that were read the longest ago. Each
    read is one of the five per second of its shard.
    """
    client = setup.kinesis(arn)
    summary = describe(client, arn)
    listed = {it.id for it in list_shards(client, arn)}
    unfinished = _unfinished(offset)
    readable = [
        (shard, it)
        for shard, it in unfinished.items()
        if shard in listed and not unfinished.keys() & {*it.waits_for}
    ]
    readable.sort(key=lambda it: (it[1].complete_as_of or _FIRST, it[0]))
    places = readable[:MOST_PROBES]
    probes = probe_each(client, arn, places)
    by_shard = dict(zip((shard for shard, _ in places), probes, strict=True))
    return StreamFacts(name=name, summary=summary, offset=offset, listed=listed, probes=by_shard)


def stream_findings(facts: StreamFacts, now: datetime) -> Iterator[Finding]:
    """Whether the query can continue in a stream, how far it is behind, and what it loses."""
    again = created_again(facts.name, facts.summary.created, parsed(facts.offset.created))
    if again is not None:
        yield CHECKPOINT.problem(
            "streams",
            again.removesuffix("."),
            "The records of the first one are gone. To read it, start the query with a new "
            "checkpoint location.",
        )
        return
    yield _lag(facts, now)
    yield _loss(facts, now)


def _lag(facts: StreamFacts, now: datetime) -> Finding:
    """The largest lag."""
    unfinished = _unfinished(facts.offset)
    found = {shard: it for shard, it in facts.probes.items() if isinstance(it, Probe)}
    unread = len(unfinished) - len(found)
    rest = f". {unread} shards were not read" if unread else ""
    if unread and not found:
        failed = next((it for it in facts.probes.values() if isinstance(it, Exception)), None)
        why = "they wait for their parents" if failed is None else text_of(failed)
        return CHECKPOINT.unknown("lag", f"no shard of {facts.name} could be read: {why}")
    lags = {it: lag(facts.offset.shards[it], probe, now) for it, probe in found.items()}
    behind = {it: age for it, age in lags.items() if age}
    if not behind:
        return CHECKPOINT.ok("lag", f"{facts.name} is read to its end{rest}")
    worst = max(behind, key=lambda it: behind[it])
    age = duration_text(behind[worst])
    return CHECKPOINT.ok("lag", f"{facts.name} is at most {age} behind, in {worst}{rest}")


def _loss(facts: StreamFacts, now: datetime) -> Finding:
    """When a restart begins to lose records."""
    unfinished, retention = _unfinished(facts.offset), facts.summary.retention
    times: dict[str, datetime] = {}
    for shard, offset in unfinished.items():
        found = facts.probes.get(shard)
        unread = found.arrived if isinstance(found, Probe) else None
        if (time := lost_at(offset, retention, unread)) is not None:
            times[shard] = time
    gone = [it for it in unfinished if it not in facts.listed]
    if lost := list(dict.fromkeys([*gone, *(it for it, time in times.items() if time <= now)])):
        return CHECKPOINT.problem(
            "loss",
            f"a restart fails with KINESIS_DATA_LOSS: records of {named(lost)} of {facts.name} may "
            "have expired before the query read them. They are kept for "
            f"{duration_text(retention)}",
            "To continue with the records that are left, set failOnDataLoss to false. An increased "
            "retention period does not bring expired records back.",
        )
    if not times:
        numbered = (Progress.AFTER, Progress.FROM)
        if any(it.progress in numbered for it in unfinished.values()):
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
