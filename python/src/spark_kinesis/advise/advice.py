"""All answers about a stream together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from .choices import (
    Choice,
    Job,
    Traffic,
    advise_aggregation,
    advise_buffer,
    advise_executors,
    advise_mode,
    advise_partitions,
    advise_readers,
)
from .shards import HashRange, Layout, Limits, ShardLoad, Step, all_steps, plan_layout

if TYPE_CHECKING:
    from .measure import Measured


@dataclass(frozen=True, kw_only=True, slots=True)
class Wishes:
    """What the user wants.

    Attributes:
        limits: how full shards may be.
        job: what is known of the job.
        delay_ms: longest delay that is good enough, in milliseconds; ``None`` for any.
    """

    limits: Limits
    job: Job
    delay_ms: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Advice:
    """What to do with a stream and its job.

    Attributes:
        stream: name of the stream. ``None`` for a plan without a stream.
        traffic: the traffic that it rests on.
        present: the open shards.
        layout: the shards that the stream should have. ``None`` for a plan.
        steps: splits and merges that lead there. New shards have names such as ``new-1``.
        choices: the other answers.
        notes: how the traffic was measured, and what the measurement does not show.
    """

    stream: str | None
    traffic: Traffic
    present: tuple[ShardLoad, ...] = ()
    layout: Layout | None = None
    steps: tuple[Step, ...] = ()
    choices: tuple[Choice, ...]
    notes: tuple[str, ...] = ()

    @property
    def is_finding(self) -> bool:
        """Whether a shard should be split or merged, or a key is too hot for any shard."""
        return bool(self.steps) or (self.layout is not None and bool(self.layout.hot))


def advise_stream(measured: Measured, wishes: Wishes) -> Advice:
    """The advice for a stream that was measured.

    Args:
        measured: its shards and its traffic. The wanted number of shards is filled in here.
        wishes: what the user wants.
    """
    shards, traffic = measured.loads, measured.traffic
    layout = plan_layout(shards, wishes.limits)
    ranges = [HashRange(id=it.id, first_key=it.first_key, last_key=it.last_key) for it in shards]
    # The service splits and merges the shards of an on-demand stream itself.
    steps = [] if traffic.mode == "ON_DEMAND" else all_steps(ranges, layout.starts)
    whole = replace(traffic, wanted_shards=len(layout.pieces))
    return Advice(
        stream=measured.summary.name,
        traffic=whole,
        present=tuple(sorted(shards, key=lambda it: it.first_key)),
        layout=layout,
        steps=tuple(steps),
        choices=choices(whole, wishes),
        notes=measured.notes,
    )


def choices(traffic: Traffic, wishes: Wishes) -> tuple[Choice, ...]:
    """The answers that depend on the traffic as a whole."""
    readers = advise_readers(traffic, wishes.delay_ms)
    job = replace(wishes.job, is_fan_out=readers.answer.startswith("fan-out"))
    found = (
        advise_mode(traffic),
        advise_aggregation(traffic, wishes.limits.most),
        readers,
        advise_executors(traffic, job),
        advise_partitions(traffic, job),
        advise_buffer(traffic, job),
    )
    return tuple(it for it in found if it is not None)
