"""How the figures were found, and what they do not show. Makes no calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from spark_kinesis.advise.shards.spread import LEAST_SAMPLE
from spark_kinesis.tools.facts.streams import named

from .combine import FULL, WRITES_REFUSED

if TYPE_CHECKING:
    from spark_kinesis.advise.shards import ShardLoad

    from .combine import Facts

_MANY_UNPLACED = 0.05


def notes(facts: Facts, loads: Sequence[ShardLoad], most: float) -> Iterator[str]:
    """What a reader of the advice must know.

    Args:
        facts: everything that was measured.
        loads: the load of each open shard.
        most: largest used part of a shard's quota, from 0 to 1.
    """
    yield _source(facts)
    yield from _about_shards(loads, most)
    placed = sum(point.records for it in loads for point in it.points)
    unplaced = sum(it.unplaced.records for it in loads)
    if unplaced > _MANY_UNPLACED * (placed + unplaced):
        yield (
            f"{unplaced / (placed + unplaced):.0%} of the records have an explicit hash key, which "
            "a reader cannot see. They count as even over their shard."
        )
    refused = [it.shard for it in facts.samples.values() if it.refused]
    if refused:
        yield f"The sample is short: other readers use up the quota of {named(refused)}."
    if facts.metric(WRITES_REFUSED).average and all(it.peak.used <= most for it in loads):
        yield (
            f"Kinesis refused {facts.metric(WRITES_REFUSED).average:.2g} records/s although no "
            f"minute filled a shard to {most:.0%}: the writes come in bursts within a minute. "
            "Write more evenly, or set a lower --target."
        )


def _about_shards(loads: Sequence[ShardLoad], most: float) -> Iterator[str]:
    few = [it.id for it in loads if it.sampled < LEAST_SAMPLE and it.peak.used > most]
    if few:
        yield (
            f"Fewer than {LEAST_SAMPLE} records were read from {named(few)}: these are cut as "
            "if their keys were even. Ask again with a larger --sample-seconds."
        )
    full = [it.id for it in loads if it.peak.used >= FULL]
    if full:
        yield (
            f"{named(full)}: full. Producers may want to write more than these accept, so the "
            "stream may need more shards than this. Ask again after the change."
        )


def _source(facts: Facts) -> str:
    sampled = sum(it.rows for it in facts.samples.values())
    hours = facts.window.total_seconds() / 3600
    if facts.has_shard_metrics:
        return f"Rates: CloudWatch per shard, {hours:.3g} hours. Keys: a sample of {sampled} rows."
    if facts.has_stream_metrics:
        return (
            f"Rates: CloudWatch for the whole stream, {hours:.3g} hours, divided among the shards "
            f"like a sample of {sampled} rows. Enhanced (shard-level) metrics are more exact."
        )
    return (
        f"Rates: a sample of {sampled} rows, without CloudWatch. It shows the last minute alone, "
        "and no busier one."
    )
