"""Which shards of a stream to split or merge, from its traffic. The command is ``advise``.

``layout`` decides, without calls. ``measuring`` asks CloudWatch and samples records, ``reshard``
splits and merges, and ``command`` is the command line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from spark_kinesis._times import utc_now
from spark_kinesis.tools.facts.checkpoints import Checkpoint
from spark_kinesis.tools.facts.streams import ON_DEMAND, Advance, describe, ignore

from .layout import Layout, Merge, ShardLoad, Split, Step, all_steps, plan_layout
from .measuring import lag_of, measure
from .reshard import open_shards

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient

__all__ = ["Advice", "Layout", "Merge", "ShardLoad", "Split", "Step", "advise"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Advice:
    """What to do with the shards of a stream.

    Attributes:
        stream: its name.
        shards: its open shards, by hash key.
        layout: the shards that it should have.
        steps: splits and merges that lead there. New shards have names such as ``new-1``. Empty for
            an on-demand stream, whose shards the service splits and merges itself.
        notes: how the traffic was measured, and what the measurement does not show.
    """

    stream: str
    shards: tuple[ShardLoad, ...]
    layout: Layout
    steps: tuple[Step, ...]
    notes: tuple[str, ...]


def advise(
    stream: str,
    *,
    kinesis: KinesisClient,
    cloudwatch: Any = None,
    checkpoint: Checkpoint | str | None = None,
    target: float = 0.8,
    merge_below: float = 0.5,
    window: timedelta = timedelta(hours=3),
    sample: timedelta = timedelta(seconds=60),
    rows: int = 2000,
    advance: Advance = ignore,
) -> Advice:
    """Measure a stream, and say which of its shards to split or merge. Changes nothing.

    Args:
        stream: name or ARN.
        kinesis: boto3's client of Kinesis, in the region of the stream.
        cloudwatch: boto3's client of CloudWatch. ``None`` measures by the sample only.
        checkpoint: checkpoint of a query, or its folder or URL, to measure its lag.
        target: largest used part of a shard's write quota, from 0 to 1.
        merge_below: neighbors are merged if they use at most this part together.
        window: time that the metrics of CloudWatch cover.
        sample: time in which sampled records arrived.
        rows: number of records to sample per shard.
        advance: is called with the number of shards that are read, and with that of all.

    Raises:
        SparkKinesisError: if the stream or the checkpoint cannot be read.
        botocore.exceptions.ClientError: if a call fails.
    """
    summary = describe(kinesis, stream)
    found = measure(
        kinesis, cloudwatch, summary, window=window, sample=sample, rows=rows, advance=advance
    )
    notes = found.notes
    if checkpoint is not None:
        at = Checkpoint.of(checkpoint)
        now = summary.server_time or utc_now()
        notes = (*notes, lag_of(kinesis, at, summary.arn, now, advance))
    layout = plan_layout(found.loads, target, merge_below)
    steps: Sequence[Step] = ()
    if summary.mode != ON_DEMAND:
        steps = all_steps(open_shards(kinesis, summary.arn), layout.starts)
    return Advice(
        stream=summary.name,
        shards=tuple(sorted(found.loads, key=lambda it: it.first_key)),
        layout=layout,
        steps=tuple(steps),
        notes=notes,
    )
