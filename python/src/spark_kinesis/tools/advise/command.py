"""The command ``spark-kinesis advise``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import click
from rich.table import Table

from spark_kinesis._errors import SparkKinesisError
from spark_kinesis._times import utc_now
from spark_kinesis.tools.cli import (
    DURATION,
    Connection,
    connection_options,
    print_json,
    progress_bar,
    screen,
    storage_option,
    to_stderr,
)
from spark_kinesis.tools.facts.streams import ON_DEMAND, describe

from .layout import Layout, ShardLoad, Step, all_steps, plan_layout
from .measure import lag_of, measure
from .reshard import need_room, open_shards, reshard

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient
    from rich.console import Console

_ATTEMPTS = 10  # of a split or a merge: an account has few per second


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
    connection: Connection,
    stream: str,
    *,
    target: float = 0.8,
    merge_below: float = 0.5,
    window: timedelta = timedelta(hours=3),
    sample: timedelta = timedelta(seconds=60),
    rows: int = 2000,
    checkpoint: str | None = None,
    cloudwatch: str | None = None,
) -> Advice:
    """Measure a stream, and say which of its shards to split or merge. Changes nothing.

    Args:
        connection: which Kinesis to call, and as whom.
        stream: name or ARN.
        target: largest used part of a shard's write quota, from 0 to 1.
        merge_below: neighbors are merged if they use at most this part together.
        window: time that the metrics of CloudWatch cover.
        sample: time in which sampled records arrived.
        rows: number of records to sample per shard.
        checkpoint: checkpoint of a query, to measure its lag.
        cloudwatch: URL of CloudWatch; default: that of AWS, and none for another Kinesis.

    Raises:
        SparkKinesisError: if the stream or the checkpoint cannot be read.
        botocore.exceptions.ClientError: if a call fails.
    """
    kinesis = connection.kinesis()
    summary = describe(kinesis, stream)
    has_metrics = connection.endpoint is None or cloudwatch is not None
    with progress_bar() as bar:
        task = bar.add_task("reading shards")

        def show(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        found = measure(
            kinesis,
            connection.service("cloudwatch", cloudwatch) if has_metrics else None,
            summary,
            window=window,
            sample=sample,
            rows=rows,
            advance=show,
        )
        notes = found.notes
        if checkpoint is not None:
            now = summary.server_time or utc_now()
            at = connection.checkpoint(checkpoint)
            notes = (*notes, lag_of(kinesis, at, summary.arn, now, show))
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


@click.command("advise")
@click.option("--stream", required=True, metavar="NAME|ARN", help="stream to measure")
@click.option("--apply", "is_applied", is_flag=True, help="split and merge, after a confirmation")
@click.option("--yes", is_flag=True, help="do not ask")
@click.option(
    "--target",
    type=click.FloatRange(0, 100, min_open=True),
    default=80.0,
    show_default=True,
    help="largest use of a shard's write quota, in percent",
)
@click.option(
    "--merge-below",
    type=click.FloatRange(0, 100),
    default=50.0,
    show_default=True,
    help="merge neighbors that use at most this together, in percent",
)
@click.option("--window", type=DURATION, default="3h", show_default=True, help="of the metrics")
@click.option(
    "--sample",
    type=DURATION,
    default="60s",
    show_default=True,
    help="time in which the sampled records arrived",
)
@click.option(
    "--sample-rows",
    "rows",
    type=click.IntRange(100),
    default=2000,
    show_default=True,
    help="records to sample per shard",
)
@click.option("--checkpoint", metavar="PATH", help="checkpoint of a query, to measure its lag")
@click.option("--cloudwatch-endpoint", "cloudwatch", metavar="URL", help="default: AWS")
@click.option("--json", "is_json", is_flag=True, help="print one JSON document")
@storage_option
@connection_options
def command(
    connection: Connection,
    *,
    stream: str,
    is_applied: bool,
    yes: bool,
    target: float,
    merge_below: float,
    is_json: bool,
    **given: Any,
) -> int:
    """Say which shards to split or merge, and which keys are too hot for any shard.

    The command asks CloudWatch for the rates, and samples records to see which keys are frequent.
    It reads at most one fifth of the read quota of a shard, ten shards at once. Without CloudWatch,
    the rates are those of the sample.

    \b
    Calls: DescribeStreamSummary, ListShards, GetShardIterator, GetRecords, and GetMetricData of
    CloudWatch. It changes nothing, unless you say --apply: then it also calls DescribeLimits,
    SplitShard and MergeShards.

    \b
    Examples:
      spark-kinesis advise --stream orders
      spark-kinesis advise --stream orders --checkpoint s3://bucket/checkpoints/orders
      spark-kinesis advise --stream orders --apply

    Exit codes: 0 nothing to change, or changed; 1 shards to split or merge, a key that is too hot,
    or a declined confirmation; 2 an error.
    """
    if is_applied and is_json:
        raise click.UsageError("--apply excludes --json")
    if merge_below > target:
        raise click.UsageError(f"--merge-below {merge_below:g} must be at most --target {target:g}")
    found = advise(connection, stream, target=target / 100, merge_below=merge_below / 100, **given)
    if is_json:
        print_json(found)
    else:
        _show(found, screen())
    if is_applied and found.steps:
        return _apply(connection.kinesis(attempts=_ATTEMPTS), stream, found, is_asked=not yes)
    return int(bool(found.steps or found.layout.hot))


def _apply(client: KinesisClient, stream: str, found: Advice, *, is_asked: bool) -> int:
    """Ask, and make the splits and merges. Returns the exit code: 1 if the user says no."""
    need_room(found.steps, client.describe_limits())
    count = len(found.steps)
    to_stderr(f"{count} calls, one after the other. Each takes up to a minute on AWS.")
    if is_asked:
        if not sys.stdin.isatty():
            raise SparkKinesisError("there is no terminal to ask on: add --yes to split and merge")
        if not click.confirm("Make these calls?", err=True):
            to_stderr("nothing was changed")
            return 1
    done: list[Step] = []
    try:
        with progress_bar() as bar:
            task = bar.add_task("resharding", total=count)
            for step in reshard(
                client,
                describe(client, stream).arn,
                initial=[it.first_key for it in found.shards],
                wanted=found.layout.starts,
            ):
                done.append(step)
                bar.update(task, completed=len(done), description=str(step))
    except BaseException:
        to_stderr(f"The change is not complete. Done: {len(done)} of {count} calls.")
        for step in done:
            to_stderr(f"  {step}")
        to_stderr("To continue, run the command again: it measures again, and advises the rest.")
        raise
    screen().print(f"Done: {len(done)} calls.")
    return 0


def _show(found: Advice, console: Console) -> None:
    table = Table(title=f"Open shards of {found.stream}", title_justify="left", box=None)
    for name in ("shard", "hash keys", "records/s", "KiB/s", "used", "refused/s", "sampled"):
        is_text = name in {"shard", "hash keys"}
        table.add_column(name, justify="left" if is_text else "right", no_wrap=True)
    for it in found.shards:
        table.add_row(
            it.id,
            f"{it.first_key:032x}"[:6] + "-" + f"{it.last_key:032x}"[:6],
            f"{it.peak.records:,.4g}",
            f"{it.peak.bytes / 1024:,.4g}",
            f"{it.peak.used:.1%}",
            f"{it.throttled:.2g}",
            f"{it.sampled:,}",
        )
    console.print(table)
    wanted = len(found.layout.pieces)
    fullest = max(it.used for it in found.layout.pieces)
    if not found.steps:
        console.print(f"shards: keep the {len(found.shards)}. The fullest uses {fullest:.1%}.")
    else:
        console.print(
            f"shards: {wanted} instead of {len(found.shards)}. After the change, the fullest uses "
            f"at most {fullest:.1%} of its write quota."
        )
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
