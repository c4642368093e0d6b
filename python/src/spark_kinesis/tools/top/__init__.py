"""Looks at a query from outside: at its checkpoint and its streams. The command is ``top``."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from spark_kinesis._boto import aws_errors
from spark_kinesis._errors import CheckpointError
from spark_kinesis._watch.forecast import Forecast, Outlook
from spark_kinesis._watch.snapshot import (
    Cost,
    Counters,
    Facts,
    MicroBatch,
    ShardFacts,
    ShardView,
    Snapshot,
    Totals,
    shards_of,
    snapshot,
)
from spark_kinesis._watch.tree import Node, State
from spark_kinesis.tools.facts.checkpoints import Checkpoint
from spark_kinesis.tools.facts.losses import ServiceClock
from spark_kinesis.tools.facts.streams import Advance, describe, ignore, list_shards

from .probes import PROBES_PER_SECOND, Probes, rate
from .steps import StepLog

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient

    from spark_kinesis._watch.snapshot import ShardKey
    from spark_kinesis.tools.facts.streams import StreamShard

__all__ = [
    "Cost",
    "Counters",
    "Forecast",
    "MicroBatch",
    "Node",
    "Outlook",
    "ShardView",
    "Snapshot",
    "State",
    "Totals",
    "look",
]

_LISTING_PERIOD = timedelta(seconds=30)
_SOONEST_LISTING = timedelta(seconds=5)  # if the checkpoint has a shard that is not listed
_MOST_FAILURES = 3


def look(
    checkpoint: Checkpoint | str,
    *,
    kinesis: KinesisClient,
    source: str | None = None,
    advance: Advance = ignore,
) -> Snapshot:
    """What a streaming query is doing, as its checkpoint and its streams show it.

    The query may run anywhere, or not at all. Each shard is read once, ten at a time, and one shard
    of each stream twice. A read returns up to 100 records and about 64 kB.

    Args:
        checkpoint: the checkpoint, or its folder or URL.
        kinesis: boto3's client of Kinesis, in the region of the streams.
        source: number or name of the source, if several are of Kinesis.
        advance: is called with the number of shards that were read, and with that of all.

    Returns:
        The lag, the unread records, the rates and a forecast of each shard and of the query.

    Raises:
        CheckpointError: if it is not the checkpoint of a query that reads from Kinesis.
        botocore.exceptions.ClientError: if a stream cannot be described or listed.
    """
    opened = Checkpoint.of(checkpoint)
    return OutsideView(opened, source, kinesis).look_at_all(advance)


class OutsideView:
    """Makes snapshots of a query that runs anywhere, or does not run."""

    def __init__(self, checkpoint: Checkpoint, source: str | None, client: KinesisClient) -> None:
        """Read the checkpoint and list the shards. ``look`` has the arguments and the errors."""
        self._clock = ServiceClock()
        self._clock.follow(client)
        self._checkpoint, self._client = checkpoint, client
        self._log = StepLog(checkpoint, source)
        self._probes = Probes(client, self._clock.now)
        self._retention: dict[str, timedelta] = {}
        self._log_note: tuple[str, ...] = ()
        self._listing_note: tuple[str, ...] = ()
        self._log.refresh()
        self._list()
        self._listing = self._clock.now()

    @property
    def shards(self) -> int:
        """The number of shards that the query has in its position."""
        return len(shards_of(self._log.position))

    def look_at_all(self, advance: Advance = ignore) -> Snapshot:
        """Make a snapshot with a probe of every shard. ``look`` has the argument."""
        return self.look(timedelta(seconds=self.shards / PROBES_PER_SECOND + 1), advance)

    def look(self, passed: timedelta, advance: Advance = ignore) -> Snapshot:
        """Make a snapshot. What fails becomes a note in it, and the next look tries again.

        Args:
            passed: time since the last look, which limits the number of probes.
            advance: is called with the number of probes that were made, and with that of all.
        """
        self._refresh_log()
        self._refresh_listing()
        self._probes.look(shards_of(self._log.position), passed, advance)
        return snapshot(self._facts())

    def _refresh_log(self) -> None:
        try:
            self._log.refresh()
            self._log_note = ()
        except CheckpointError as error:
            self._log_note = (str(error),)

    def _refresh_listing(self) -> None:
        is_complete = shards_of(self._log.position).keys() <= self._listed.keys()
        pause = _LISTING_PERIOD if is_complete else _SOONEST_LISTING
        if self._clock.now() - self._listing < pause:
            return
        self._listing = self._clock.now()
        try:
            self._list()
            self._listing_note = ()
        except aws_errors() as error:
            self._listing_note = (f"The shards could not be listed: {error}",)

    def _list(self) -> None:
        listed: dict[ShardKey, StreamShard] = {}
        for arn in self._log.position.streams:
            self._retention[arn] = describe(self._client, arn).retention
            listed |= {(arn, it.id): it for it in list_shards(self._client, arn)}
        self._listed = listed

    def _facts(self) -> Facts:
        now, positions = self._clock.now(), shards_of(self._log.position)
        shards = {}
        for key in sorted({*positions, *self._listed}):
            probed, listed = self._probes.of(key), self._listed.get(key)
            position = positions.get(key)
            late = probed.lag(position, now)
            records, is_counted = probed.unread(position, late)
            shards[key] = ShardFacts(
                parents=listed.parents if listed else (),
                is_open=listed.is_open if listed else None,
                position=position,
                lag=late,
                records=records,
                is_counted=is_counted,
                arriving=probed.arriving,
                backlog_rate=rate(probed.backlog),
                refused=probed.refused,
                measured=probed.backlog[-1].at if probed.backlog else None,
            )
        return Facts(
            at=now,
            query=self._checkpoint.query_id,
            place=self._checkpoint.location,
            batch=self._log.batch,
            steps=self._log.steps,
            shards=shards,
            retention=dict(self._retention),
            cost=self._probes.spending.cost(now),
            notes=self._notes(),
        )

    def _notes(self) -> tuple[str, ...]:
        known = {self._probes.of(it).failure for it in shards_of(self._log.position)}
        failures = sorted(it for it in known if it is not None)
        shards = [f"A shard could not be read: {it}" for it in failures]
        return (*self._log_note, *self._listing_note, *shards[:_MOST_FAILURES])
