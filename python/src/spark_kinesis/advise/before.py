"""The size of a stream and a job before there is traffic."""

from __future__ import annotations

from dataclasses import dataclass

from spark_kinesis.tools.facts.records import MIB, WRITE_BYTES, WRITE_RECORDS

from .advice import Advice, Wishes, choices
from .choices import Choice, Traffic
from .choices.traffic import shards_for
from .shards import Rate


@dataclass(frozen=True, kw_only=True, slots=True)
class Expected:
    """The traffic that will come.

    Attributes:
        events_per_minute: average number of events per minute.
        bytes: mean size of an event with its partition key, in bytes.
        peak: how many times the average the busiest minute has.
        hot_share: part of all events that have the most frequent partition key, from 0 to 1.
        readers: number of applications that read the stream.
    """

    events_per_minute: float
    bytes: float
    peak: float = 1.0
    hot_share: float = 0.0
    readers: int = 1

    def __post_init__(self) -> None:
        """Check the numbers.

        Raises:
            ValueError: names the wrong option.
        """
        if not 0 < self.events_per_minute < float("inf"):
            raise ValueError(f"--events-per-minute must be above 0, not {self.events_per_minute}")
        if not 1 <= self.bytes <= 10 * MIB:
            raise ValueError(f"--bytes must be from 1 to {10 * MIB}, not {self.bytes}")
        if not 1 <= self.peak < float("inf"):
            raise ValueError(f"--peak must be at least 1, not {self.peak}")
        if not 0 <= self.hot_share <= 1:
            raise ValueError(f"--hot-share must be from 0 to 1, not {self.hot_share}")

    @property
    def average(self) -> Rate:
        """Writes per second on average."""
        events = self.events_per_minute / 60
        return Rate(records=events, bytes=events * self.bytes)


def plan(expected: Expected, wishes: Wishes) -> Advice:
    """The advice before there is a stream."""
    peak = expected.average.times(expected.peak)
    shards = shards_for(peak, wishes.limits.most)
    traffic = Traffic(
        average=expected.average,
        peak=peak,
        row_bytes=expected.bytes,
        shards=0,
        wanted_shards=shards,
        pollers=expected.readers,
    )
    return Advice(
        stream=None,
        traffic=traffic,
        choices=(_shards(peak, shards, expected, wishes), *choices(traffic, wishes)),
        notes=(
            (
                "This plan assumes many partition keys that are about equally frequent, so that "
                "all shards receive the same. Measure with --stream when there is traffic."
            ),
        ),
    )


def _shards(peak: Rate, shards: int, expected: Expected, wishes: Wishes) -> Choice:
    most = wishes.limits.most
    by_records, by_bytes = peak.records / WRITE_RECORDS, peak.bytes / WRITE_BYTES
    limit = "records" if by_records > by_bytes else "bytes"
    reasons = [
        (
            f"The busiest minute has {peak.records:,.4g} records/s and "
            f"{peak.bytes / MIB:.3g} MiB/s. A shard accepts {WRITE_RECORDS:,} records/s and "
            f"1 MiB/s: the {limit} fill {max(by_records, by_bytes):.2f} shards."
        ),
        f"At most {most:.0%} of each shard is used. The rest is for bursts within a minute.",
    ]
    hot = peak.times(expected.hot_share).used
    if hot > most:
        reasons.append(
            f"The most frequent key alone uses {hot:.0%} of a shard, whatever the number of "
            "shards, because all its records go to one. Divide the key, or aggregate."
        )
    return Choice(
        question="shards",
        answer=str(shards),
        reasons=tuple(reasons),
        figures={"shards": float(shards), "hot_key_used": hot},
    )
