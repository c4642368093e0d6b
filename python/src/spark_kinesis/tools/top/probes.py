"""Probes of shards: a few records at the query's position, and shortly before the newest one.

From them follow the lag, the unread records and the rates of a shard.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from spark_kinesis._boto import aws_errors, code_of
from spark_kinesis._offsets import Progress, ShardOffset
from spark_kinesis._watch.snapshot import Cost
from spark_kinesis.tools.facts.lags import Probe, lag, latest_at, probe
from spark_kinesis.tools.facts.records import READ_BYTES, READ_CALLS, THROTTLED, WRITE_RECORDS
from spark_kinesis.tools.facts.streams import Advance, ask_each, ignore

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient

    from spark_kinesis._watch.snapshot import ShardKey

PERIOD = timedelta(seconds=5)
"""A shard is probed at most once in this time."""
PROBES_PER_SECOND = 20.0
"""Probes of all shards together: few, so that a view is no load on its machine either."""
SAMPLE_BYTES = 64 * 1024
"""What a probe may read, if records are as large as the earlier ones."""
MOST_RECORDS = 100

_KEPT = 5
_TIP = timedelta(seconds=10)
_WINDOW = timedelta(minutes=1)
_REFUSED = {THROTTLED, "LimitExceededException"}


@dataclass
class Probed:
    """What the probes of one shard have found."""

    backlog: deque[Probe] = field(default_factory=lambda: deque(maxlen=_KEPT))  # at positions
    tip: deque[Probe] = field(default_factory=lambda: deque(maxlen=_KEPT))  # near the newest one
    last: datetime | None = None  # when the shard was probed last, also without success
    refused: int = 0  # number of probes that were refused because a limit was reached
    failure: str | None = None  # why the last probe failed for another reason

    def lag(self, position: ShardOffset | None, now: datetime) -> timedelta | None:
        """The time since the first record arrived that the query has not processed, if known."""
        return lag(position, self.backlog, now)

    def unread(
        self, position: ShardOffset | None, late: timedelta | None
    ) -> tuple[int | None, bool]:
        """The number of records that are not processed, and whether it was counted.

        Otherwise it is an estimate: the mean of the rates at which records arrived at the position
        and arrive now, times the lag. The number is ``None`` if no rate is known.
        """
        if late is None or position is None:
            return None, False
        latest = latest_at(position, self.backlog)
        seen = latest.records if latest is not None else 0
        if not late or (latest is not None and latest.is_whole):
            return seen, True
        rates = [it for it in (rate(self.backlog), rate(self.tip)) if it is not None]
        if not rates:
            return None, False
        return max(seen, round(sum(rates) / len(rates) * late.total_seconds())), False

    @property
    def arriving(self) -> float | None:
        """The records per second that arrive: by probes of the tip, or else of the backlog."""
        at_tip = rate(self.tip)
        return rate(self.backlog) if at_tip is None else at_tip

    @property
    def looks_at_tip(self) -> bool:
        """Whether the last probe was at the position, and did not reach the tip."""
        if not self.backlog or self.backlog[-1].is_whole:
            return False
        return not self.tip or self.tip[-1].at < self.backlog[-1].at


def rate(probes: Sequence[Probe]) -> float | None:
    """The records per second that arrived where probes read. ``None`` if they do not tell."""
    known = [it for it in map(_counted, probes) if it is not None]
    seconds = sum(it[1] for it in known)
    if seconds <= 0:
        return None
    return min(WRITE_RECORDS, sum(it[0] for it in known) / seconds)


def _counted(found: Probe) -> tuple[int, float] | None:
    """A number of records, and the seconds in which they arrived."""
    end = found.at if found.is_whole else found.last_arrived
    start, count = found.position.complete_until, found.records
    if start is None:  # then time begins with the first record, which does not count
        start, count = found.arrived, count - 1
    if start is None or end is None or end <= start:
        return None
    return count, (end - start).total_seconds()


class Probes:
    """Probes shards in turn, at most one probe per shard in five seconds.

    A shard that is behind is probed at the query's position and near its newest record in turns.
    A shard without a known size of records is asked for one record. At the start, one shard of each
    stream is asked in this way, so that the others can be asked for more.
    """

    def __init__(self, client: KinesisClient, now: Callable[[], datetime]) -> None:
        """Probe nothing yet. ``now`` returns the time of the service."""
        self._client, self._now = client, now
        self._shards: dict[ShardKey, Probed] = {}
        self._sizes: dict[str, float] = {}
        self.spending = Spending()

    def of(self, key: ShardKey) -> Probed:
        """What the probes of a shard have found."""
        return self._shards.get(key) or Probed()

    def look(
        self,
        positions: Mapping[ShardKey, ShardOffset],
        passed: timedelta,
        advance: Advance = ignore,
    ) -> None:
        """Probe the shards whose turn it is. ``OutsideView.look`` has the arguments."""
        asked = {it: at for it, at in positions.items() if at.progress is not Progress.FINISHED}
        self._shards = {it: self._shards.get(it) or Probed() for it in asked}
        turn = due({it: self._shards[it].last for it in asked}, self._now(), passed)
        tips = {it for it in turn if self._shards[it].looks_at_tip}
        for key in turn:
            if key[0] not in self._sizes:
                self._sizes[key[0]] = 0.0  # one pilot per stream
                self._probe(key, asked[key], at_tip=False)
        ask_each(lambda it: self._probe(it, asked[it], at_tip=it in tips), turn, advance)

    def _probe(self, key: ShardKey, position: ShardOffset, *, at_tip: bool) -> None:
        known, now = self._shards[key], self._now()
        known.last, known.failure = now, None
        if at_tip:
            position = ShardOffset(progress=Progress.AT, time=(now - _TIP).isoformat())
        most = limit(self._sizes[key[0]] or None)
        try:
            found = probe(self._client, *key, position, limit=most, now=self._now)
        except aws_errors() as error:
            if code_of(error) in _REFUSED:
                known.refused += 1
            else:
                known.failure = str(error)
            return
        (known.tip if at_tip else known.backlog).append(found)
        self.spending.add(found.at, key, found.size)
        if found.records:
            self._sizes[key[0]] = max(1.0, found.size / found.records)


def due(
    probed: Mapping[ShardKey, datetime | None], now: datetime, passed: timedelta
) -> list[ShardKey]:
    """The shards to probe now: those that were not probed for longest come first.

    ``probed`` says when, if ever. The time that passed since the last probes limits their number.
    """
    most = max(1, int(passed.total_seconds() * PROBES_PER_SECOND))
    ages = [
        (at is not None, at or now, key)
        for key, at in probed.items()
        if at is None or now - at >= PERIOD
    ]
    return [key for _, _, key in sorted(ages)[:most]]


def limit(record_size: float | None) -> int:
    """How many records a probe may read, by their mean size in bytes. One if it is unknown."""
    if record_size is None:
        return 1
    return max(1, min(MOST_RECORDS, int(SAMPLE_BYTES / max(record_size, 1.0))))


class Spending:
    """The reads of the last minute."""

    def __init__(self) -> None:
        """Nothing was read."""
        self._reads: deque[tuple[datetime, ShardKey, int]] = deque()

    def add(self, at: datetime, key: ShardKey, size: int) -> None:
        """Count a read of a number of bytes."""
        self._reads.append((at, key, size))

    def cost(self, now: datetime) -> Cost:
        """What was used of the quota of the shard of which most was used."""
        while self._reads and now - self._reads[0][0] > _WINDOW:
            self._reads.popleft()
        calls: Counter[ShardKey] = Counter()
        sizes: Counter[ShardKey] = Counter()
        for _, key, size in self._reads:
            calls[key] += 1
            sizes[key] += size
        seconds = _WINDOW.total_seconds()
        return Cost(
            calls=max(calls.values(), default=0) / (READ_CALLS * seconds),
            bytes=max(sizes.values(), default=0) / (READ_BYTES * seconds),
        )
