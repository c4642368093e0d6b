"""Which shards of a stream to split or merge, from its traffic. The command is ``advise``.

``layout`` decides, without calls. ``measuring`` and ``resharding`` call Kinesis.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import click
from rich.table import Table

from spark_kinesis._boto import is_aws
from spark_kinesis.tools.changes import agree, progress, yes_option
from spark_kinesis.tools.cli import (
    DURATION,
    Connection,
    connection_options,
    json_option,
    print_json,
    screen,
    to_stderr,
)
from spark_kinesis.tools.facts.streams import ON_DEMAND, Advance, describe, ignore

from .layout import Layout, Merge, ShardLoad, Split, Step, all_steps, plan_layout
from .measuring import measure
from .resharding import open_shards, reshard

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient
    from rich.console import Console

__all__ = ["Advice", "Layout", "Merge", "ShardLoad", "Split", "Step", "advise"]

_ATTEMPTS = 10  # of a split or a merge: an account has few per second


@dataclass(frozen=True, kw_only=True, slots=True)
class Advice:
    """What to do with the shards of a stream."""

    stream: str  # its name
    shards: tuple[ShardLoad, ...]  # its open shards, by hash key
    layout: Layout  # the shards that it should have
    # Splits and merges that lead there. New shards have names such as ``new-1``. Empty for an
    # on-demand stream, whose shards the service splits and merges itself.
    steps: tuple[Step, ...]
    notes: tuple[str, ...]  # how the traffic was measured, and what that does not show


def advise(
    stream: str,
    *,
    kinesis: KinesisClient,
    cloudwatch: Any = None,
    target: float = 0.8,
    sample: timedelta = timedelta(seconds=60),
    advance: Advance = ignore,
) -> Advice:
    """Measure a stream, and say which of its shards to split or merge. Changes nothing.

    Args:
        stream: name or ARN.
        kinesis: boto3's client of Kinesis, in the region of the stream.
        cloudwatch: boto3's client of CloudWatch, for the rates of the last three hours. ``None``
            measures by the sample only.
        target: largest used part of a shard's write quota, from 0 to 1.
        sample: time in which sampled records arrived.
        advance: is called with the number of shards that are read, and with that of all.

    Raises:
        botocore.exceptions.ClientError: if a call of Kinesis fails.
    """
    summary = describe(kinesis, stream)
    shards = open_shards(kinesis, summary.arn)
    loads, notes = measure(kinesis, cloudwatch, summary, shards, sample, advance)
    layout = plan_layout(loads, target)
    steps = [] if summary.mode == ON_DEMAND else all_steps(shards, layout.starts)
    return Advice(stream=summary.name, shards=loads, layout=layout, steps=tuple(steps), notes=notes)


@click.command("advise")
@click.option("--stream", required=True, metavar="NAME|ARN", help="stream to measure")
@click.option("--apply", "is_applied", is_flag=True, help="split and merge, after a confirmation")
@yes_option
@click.option(
    "--target",
    type=click.FloatRange(0, 100, min_open=True),
    default=80.0,
    show_default=True,
    help="largest use of a shard's write quota, in percent",
)
@click.option(
    "--sample",
    type=DURATION,
    default="60s",
    show_default=True,
    help="time in which the sampled records arrived",
)
@json_option
@connection_options
def command(
    connection: Connection,
    *,
    stream: str,
    is_applied: bool,
    is_agreed: bool,
    target: float,
    as_json: bool,
    **given: Any,
) -> int:
    """Say which shards to split or merge, and which keys are too hot for any shard.

    The command asks CloudWatch for the rates, and samples records to see which keys are frequent.
    It reads at most one fifth of the read quota of a shard, ten shards at once. Without CloudWatch,
    the rates are those of the sample.

    \b
    Calls: DescribeStreamSummary, ListShards, GetShardIterator, GetRecords, and GetMetricData of
    CloudWatch. It changes nothing, unless you say --apply: then it also calls SplitShard and
    MergeShards.

    \b
    Examples:
      spark-kinesis advise --stream orders
      spark-kinesis advise --stream orders --apply

    Exit codes: 0 nothing to change, or changed; 1 shards to split or merge, a key that is too hot,
    or a no to the question; 2 an error.
    """
    if is_applied and as_json:
        raise click.UsageError("--apply excludes --json")
    has_metrics = is_aws(connection.endpoint)
    with progress("reading shards") as advance:
        found = advise(
            stream,
            kinesis=connection.kinesis(),
            cloudwatch=connection.service("cloudwatch") if has_metrics else None,
            target=target / 100,
            advance=advance,
            **given,
        )
    if as_json:
        print_json(found)
    else:
        _show(found, screen())
    if is_applied and found.steps:
        _apply(connection.kinesis(attempts=_ATTEMPTS), stream, found, is_agreed=is_agreed)
        return int(bool(found.layout.hot))
    return int(bool(found.steps or found.layout.hot))


def _apply(client: KinesisClient, stream: str, found: Advice, *, is_agreed: bool) -> None:
    """Ask, and make the splits and merges."""
    count, done = len(found.steps), 0
    to_stderr(f"{count} calls, one after the other. Each takes up to a minute on AWS.")
    agree("Make these calls?", is_agreed=is_agreed)
    initial = [it.first_key for it in found.shards]
    try:
        with progress("resharding") as advance:
            for _ in reshard(
                client, describe(client, stream).arn, initial=initial, wanted=found.layout.starts
            ):
                done += 1
                advance(done, count)
    except BaseException:
        to_stderr(
            f"The change is not complete. Done: the first {done} of {count} calls. To continue, "
            "run the command again: it measures again, and advises the rest."
        )
        raise
    screen().print(f"Done: {count} calls.")


def _show(found: Advice, console: Console) -> None:
    table = Table(title=f"Open shards of {found.stream}", title_justify="left", box=None)
    for name in ("shard", "first hash key", "records/s", "KiB/s", "used"):
        table.add_column(name, justify="left" if name == "shard" else "right", no_wrap=True)
    for it in found.shards:
        table.add_row(
            it.id,
            str(it.first_key),
            f"{it.peak.records:,.4g}",
            f"{it.peak.bytes / 1024:,.4g}",
            f"{it.peak.used:.1%}",
        )
    console.print(table)
    if found.steps:
        console.print(
            f"shards: {len(found.layout.pieces)} instead of {len(found.shards)}, with "
            f"{len(found.steps)} calls. After that, the fullest uses at most "
            f"{max(it.used for it in found.layout.pieces):.1%} of its write quota."
        )
    else:
        fullest = max(it.peak.used for it in found.shards)
        console.print(f"shards: keep the {len(found.shards)}. The fullest uses {fullest:.1%}.")
    for number, step in enumerate(found.steps, start=1):
        console.print(f"  {number}. {step}", markup=False)
    for hot in found.layout.hot:
        console.print(
            f"hot key: {hot.key!r} in {hot.shard} alone uses up to {hot.used:.1%} of a shard's "
            "write quota. All its records go to one shard, so no split helps. Divide the key (for "
            "example with a number behind it), aggregate, or write less.",
            markup=False,
        )
    for note in found.notes:
        console.print(note, markup=False, style="dim")
