"""How long a job needs to read a backlog."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from spark_kinesis._times import duration_text
from spark_kinesis.tools.facts.records import MIB, READ_BYTES

if TYPE_CHECKING:
    from .traffic import Traffic

_WITHOUT_LAG = timedelta(hours=1)
_LEAST = timedelta(minutes=1)


def catch_up(traffic: Traffic, tasks: float, *, is_fan_out: bool) -> str:
    """How long the job needs to catch up, and what limits it, in two sentences.

    Args:
        traffic: the traffic, which stays at its peak meanwhile.
        tasks: what the tasks can process, as a multiple of the peak; infinite without traffic.
        is_fan_out: whether the job has the read quota of the shards alone.
    """
    applications = 1 if is_fan_out else traffic.pollers
    asked = traffic.peak.bytes * applications
    quota = READ_BYTES * max(1, traffic.wanted_shards) / asked if asked else tasks
    speed = min(tasks, quota)
    shared = f", which {applications} polling applications share" if applications > 1 else ""
    limit = (
        "The executors limit its speed."
        if tasks <= quota
        else f"The read quota of the shards limits its speed: {READ_BYTES // MIB} MiB per second "
        f"and shard{shared}."
    )
    begin = (
        "After a stop of an hour"
        if traffic.lag is None
        else f"A reader is up to {traffic.lag.total_seconds():,.0f} s behind. From there"
    )
    if speed <= 1:
        return f"{begin}, this job does not catch up if the traffic stays at its peak. {limit}"
    lag = _WITHOUT_LAG if traffic.lag is None else traffic.lag
    needed = timedelta(seconds=lag.total_seconds() / (speed - 1))
    text = duration_text(needed) if needed >= _LEAST else "less than a minute"
    return f"{begin}, this job catches up in {text} if the traffic stays at its peak. {limit}"
