"""Probes of shards: a few records at the query's position, and shortly before the newest one."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from spark_kinesis.tools.facts.offsets import Progress, ShardOffset
from spark_kinesis.tools.facts.records import THROTTLED, probe

from .model.facts import Cost, Reading, ShardKey
from .model.rotation import Spending, due, limit

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient

_THREADS = 8
_KEPT = 5
TIP = timedelta(seconds=10)
_REFUSED = {THROTTLED, "LimitExceededException"}


@dataclass
class Probed:
    """What the probes of one shard have found.

    Attributes:
        backlog: probes at positions of the query.
        tip: probes shortly before the newest record.
        last: when the shard was probed last, also without success.
        refused: number of probes that were refused because a limit was reached.
        failure: why the last probe failed for another reason.
    """

    backlog: deque[Reading] = field(default_factory=lambda: deque(maxlen=_KEPT))
    tip: deque[Reading] = field(default_factory=lambda: deque(maxlen=_KEPT))
    last: datetime | None = None
    refused: int = 0
    failure: str | None = None


class Probes:
    """Probes shards in turn, at most one probe per shard in five seconds.

    A shard that is behind is probed at the query's position and near its newest record in turns.
    A shard without a known size of records is asked for one record. At the start, one shard of each
    stream is asked in this way, so that the others can be asked for more.
    """

    def __init__(self, client: KinesisClient, now: Callable[[], datetime]) -> None:
        """Probe nothing yet.

        Args:
            client: client of Kinesis that makes each call once.
            now: returns the time of the service.
        """
        self._client, self._now = client, now
        self._shards: dict[ShardKey, Probed] = {}
        self._sizes: dict[str, float] = {}
        self._spending = Spending()

    def of(self, key: ShardKey) -> Probed:
        """What the probes of a shard have found."""
        return self._shards.get(key) or Probed()

    def cost(self) -> Cost:
        """What the probes of the last minute have used."""
        return self._spending.cost(self._now())

    def look(
        self,
        positions: Mapping[ShardKey, ShardOffset],
        passed: timedelta,
        tell: Callable[[], None] = lambda: None,
    ) -> None:
        """Probe the shards whose turn it is.

        Args:
            positions: how far the query has processed each shard.
            passed: time since the last look, which limits the number of probes.
            tell: is called after each probe.
        """
        asked = {it: at for it, at in positions.items() if at.progress is not Progress.FINISHED}
        self._shards = {it: self._shards.get(it) or Probed() for it in asked}
        turn = due({it: self._shards[it].last for it in asked}, self._now(), passed)
        tips = {it for it in turn if _looks_at_tip(self._shards[it])}
        for key in turn:
            if key[0] not in self._sizes:
                self._sizes[key[0]] = 0.0  # one pilot per stream
                self._probe(key, asked[key], at_tip=False)
        with ThreadPoolExecutor(_THREADS) as pool:
            for _ in pool.map(lambda it: self._probe(it, asked[it], at_tip=it in tips), turn):
                tell()

    def _probe(self, key: ShardKey, position: ShardOffset, *, at_tip: bool) -> None:
        from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 optional

        known, now = self._shards[key], self._now()
        known.last, known.failure = now, None
        asked = _near_tip(now) if at_tip else position
        most = limit(self._sizes[key[0]] or None)
        try:
            found = probe(self._client, *key, asked, limit=most)
        except ClientError as error:
            if error.response["Error"]["Code"] in _REFUSED:
                known.refused += 1
            else:
                known.failure = str(error)
            return
        except BotoCoreError as error:
            known.failure = str(error)
            return
        reading = Reading(at=self._now(), position=asked, probe=found)
        (known.tip if at_tip else known.backlog).append(reading)
        self._spending.add(reading.at, key, found.size)
        if found.records:
            self._sizes[key[0]] = max(1.0, found.size / found.records)


def _looks_at_tip(known: Probed) -> bool:
    """Whether the last probe was at the position, and did not reach the tip."""
    if not known.backlog or known.backlog[-1].is_whole:
        return False
    return not known.tip or known.tip[-1].at < known.backlog[-1].at


def _near_tip(now: datetime) -> ShardOffset:
    return ShardOffset(progress=Progress.AT, time=(now - TIP).isoformat())
