"""The size of a Spark job: executors, tasks, and the memory to read ahead."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, inf
from typing import TYPE_CHECKING

from spark_kinesis.tools.facts.records import MIB

from .catch_up import catch_up
from .choice import Choice

if TYPE_CHECKING:
    from .traffic import Traffic

# Part of the time for which tasks are busy. The rest is for a backlog and for pauses.
BUSY = 0.7
# CPU of reading 1 GB of rows of 100 bytes: the dearest drain in docs/reference/benchmarks.md.
READ_CPU_SECONDS_PER_GB = 10.0
_GB = 1e9
# From docs/how-to/read.md: a sixth of the heap up to 1 GiB, and 13 MB per query at least.
_HEAP_PART, _LARGEST_DEFAULT, _LEAST_BUFFER = 6, 1024 * MIB, 64 * MIB
_SPILL = 4096 * MIB
# From docs/how-to/enhanced-fan-out.md: heap per subscription, of which records keep a quarter.
_SUBSCRIPTION = 160 * 1024


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """What is known of the job.

    Attributes:
        seconds_per_event: CPU or waiting time of a task per row, without reading. ``None`` if it
            is unknown.
        cores: task slots per executor.
        heap: heap of an executor, in bytes.
        interval: trigger interval, in seconds; 0 for the default trigger.
        is_fan_out: whether it reads by enhanced fan-out.
    """

    seconds_per_event: float | None = None
    cores: int = 4
    heap: int = 4096 * MIB
    interval: float = 0.0
    is_fan_out: bool = False

    def __post_init__(self) -> None:
        """Check the numbers.

        Raises:
            ValueError: names the wrong option.
        """
        if self.cores < 1:
            raise ValueError(f"--cores must be at least 1, not {self.cores}")
        if self.seconds_per_event is not None and self.seconds_per_event < 0:
            raise ValueError(
                f"--seconds-per-event must not be negative, not {self.seconds_per_event}"
            )
        if self.interval < 0:
            raise ValueError(f"--trigger-seconds must not be negative, not {self.interval}")


def slots_for(traffic: Traffic, job: Job) -> float:
    """Number of task slots that are busy all the time in the busiest minute."""
    reading = traffic.peak.bytes / _GB * READ_CPU_SECONDS_PER_GB
    return reading + traffic.rows * (job.seconds_per_event or 0.0)


def executors_for(traffic: Traffic, job: Job) -> int:
    """Number of executors, at least one."""
    return max(1, ceil(slots_for(traffic, job) / BUSY / job.cores))


def advise_executors(traffic: Traffic, job: Job) -> Choice:
    """As many slots as the busiest minute needs, if tasks work 70 % of the time."""
    slots, executors = slots_for(traffic, job), executors_for(traffic, job)
    work = (
        "The time per event is unknown, so this is for reading alone: set --seconds-per-event."
        if job.seconds_per_event is None
        else f"{traffic.rows:,.0f} rows per second at {job.seconds_per_event:g} s each."
    )
    spare = executors * job.cores / slots if slots else inf
    return Choice(
        question="executors",
        answer=f"{executors} with {job.cores} cores each",
        reasons=(
            (
                f"The busiest minute keeps {slots:.2g} slots busy, of which reading needs "
                f"{READ_CPU_SECONDS_PER_GB:.0f} CPU-s per GB. {work}"
            ),
            f"Tasks may work {BUSY:.0%} of the time.",
            catch_up(traffic, spare, is_fan_out=job.is_fan_out),
        ),
        figures={"executors": float(executors), "busy_slots": slots},
    )


def advise_partitions(traffic: Traffic, job: Job) -> Choice | None:
    """More tasks than shards, if the rows of one shard need more than one slot."""
    shards = max(1, traffic.wanted_shards)
    slots = slots_for(traffic, job) / BUSY
    if slots <= shards:
        return None
    tasks = executors_for(traffic, job) * job.cores
    return Choice(
        question="tasks",
        answer=f"minPartitions={tasks}, or {ceil(slots)} shards",
        reasons=(
            (
                f"The rows of one shard keep {slots / shards:.2g} slots busy, and by default, one "
                "task processes them."
            ),
            (
                "With minPartitions, several tasks share a shard. The rows of a partition key "
                "are then in order only within each task."
            ),
        ),
        figures={"min_partitions": float(tasks)},
    )


def advise_buffer(traffic: Traffic, job: Job) -> Choice:
    """Memory for what arrives from one trigger to the end of its micro-batch."""
    executors = executors_for(traffic, job)
    per_executor = traffic.peak.bytes / executors
    batch = max(job.interval, 1.0)  # a batch may take as long as its interval
    overhead = _SUBSCRIPTION * ceil(traffic.wanted_shards / executors) if job.is_fan_out else 0
    needed = max(_LEAST_BUFFER, per_executor * (job.interval + batch)) + overhead
    default = min(job.heap / _HEAP_PART, _LARGEST_DEFAULT)
    figures = {"needed_bytes": needed, "default_bytes": default}
    reason = (
        f"{per_executor / MIB:.3g} MiB/s per executor arrive for {job.interval:g} s, and while a "
        f"micro-batch takes up to {batch:g} s. This needs {needed / MIB:,.0f} MiB (64 MiB at "
        f"least). The default is {default / MIB:,.0f} MiB, a sixth of the heap up to 1 GiB."
    )
    if needed <= default:
        return Choice(
            question="fetchBufferSize", answer="the default", reasons=(reason,), figures=figures
        )
    if needed <= job.heap / 2:
        answer = f"{ceil(needed / MIB)}m"
        return Choice(question="fetchBufferSize", answer=answer, reasons=(reason,), figures=figures)
    spill = max(_SPILL, needed)
    return Choice(
        question="fetchBufferSize",
        answer=f"the default, and fetchSpillSize={ceil(spill / MIB)}m",
        reasons=(reason, "This is more than half of the heap, so the rest waits on local disk."),
        figures=figures,
    )
