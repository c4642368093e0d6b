"""Looks at a query from outside: at its checkpoint and its streams."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from spark_kinesis._errors import CheckpointError
from spark_kinesis.tools.facts.losses import ServiceClock
from spark_kinesis.tools.facts.streams import StreamShard, describe, list_shards

from .model.assembly import snapshot
from .model.facts import Facts, ShardFacts, ShardKey
from .probes import Probes
from .steps import StepLog, shards_of

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient

    from spark_kinesis.tools.facts.checkpoints import Checkpoint

    from .model.snapshot import Snapshot

LISTING_PERIOD = timedelta(seconds=30)
_SOONEST_LISTING = timedelta(seconds=5)  # if the checkpoint has a shard that is not listed
_MOST_FAILURES = 3


class OutsideView:
    """Makes snapshots of a query that runs anywhere, or does not run."""

    def __init__(self, checkpoint: Checkpoint, source: str | None, client: KinesisClient) -> None:
        """Read nothing yet.

        Args:
            checkpoint: the checkpoint of the query.
            source: number or name of the Kinesis source; default: the only one.
            client: client of Kinesis that makes each call once.
        """
        self._clock = ServiceClock()
        self._clock.follow(client)
        self._checkpoint, self._client = checkpoint, client
        self._log = StepLog(checkpoint, source)
        self._probes = Probes(client, self._clock.now)
        self._listed: dict[ShardKey, StreamShard] = {}
        self._retention: dict[str, timedelta] = {}
        self._listing: datetime | None = None
        self._log_note: tuple[str, ...] = ()
        self._listing_note: tuple[str, ...] = ()

    @property
    def shards(self) -> int:
        """The number of shards that the query has in its position."""
        return len(shards_of(self._log.position))

    def open(self) -> None:
        """Read the checkpoint and list the shards.

        Raises:
            CheckpointError: if it is not the checkpoint of a query that reads from Kinesis.
            botocore.exceptions.ClientError: if a stream cannot be described or listed.
        """
        self._log.refresh()
        self._list()

    def look(self, passed: timedelta, tell: Callable[[], None] = lambda: None) -> Snapshot:
        """Make a snapshot. What fails becomes a note in it, and the next look tries again.

        Args:
            passed: time since the last look, which limits the number of probes.
            tell: is called after each probe.
        """
        self._refresh_log()
        self._refresh_listing()
        positions = shards_of(self._log.position)
        self._probes.look(positions, passed, tell)
        return snapshot(self._facts())

    def _refresh_log(self) -> None:
        try:
            self._log.refresh()
            self._log_note = ()
        except CheckpointError as error:
            self._log_note = (str(error),)

    def _refresh_listing(self) -> None:
        from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 optional

        is_complete = shards_of(self._log.position).keys() <= self._listed.keys()
        pause = LISTING_PERIOD if is_complete else _SOONEST_LISTING
        if self._listing is not None and self._clock.now() - self._listing < pause:
            return
        try:
            self._list()
            self._listing_note = ()
        except (BotoCoreError, ClientError) as error:
            self._listing = self._clock.now()
            self._listing_note = (f"The shards could not be listed: {error}",)

    def _list(self) -> None:
        listed: dict[ShardKey, StreamShard] = {}
        for arn in self._log.position.streams:
            self._retention[arn] = describe(self._client, arn).retention
            listed |= {(arn, it.id): it for it in list_shards(self._client, arn)}
        self._listed, self._listing = listed, self._clock.now()

    def _facts(self) -> Facts:
        positions = shards_of(self._log.position)
        shards = {}
        for key in sorted({*positions, *self._listed}):
            probed, listed = self._probes.of(key), self._listed.get(key)
            shards[key] = ShardFacts(
                parents=listed.parents if listed else (),
                is_open=listed.is_open if listed else None,
                position=positions.get(key),
                backlog=tuple(probed.backlog),
                tip=tuple(probed.tip),
                refused=probed.refused,
            )
        return Facts(
            at=self._clock.now(),
            query=self._checkpoint.query_id,
            place=self._checkpoint.location,
            batch=self._log.batch,
            steps=self._log.steps,
            shards=shards,
            retention=self._retention,
            cost=self._probes.cost(),
            notes=self._notes(),
        )

    def _notes(self) -> tuple[str, ...]:
        known = {self._probes.of(it).failure for it in shards_of(self._log.position)}
        failures = sorted(it for it in known if it is not None)
        shards = [f"A shard could not be read: {it}" for it in failures]
        return (*self._log_note, *self._listing_note, *shards[:_MOST_FAILURES])
