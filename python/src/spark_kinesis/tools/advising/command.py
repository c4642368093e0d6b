"""The command ``spark-kinesis advise``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from rich.table import Table

from spark_kinesis.tools.changes import agree, progress, yes_option
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
from spark_kinesis.tools.facts.streams import describe

from . import Advice, advise
from .reshard import need_room, reshard

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient
    from rich.console import Console

    from .layout import Step

_ATTEMPTS = 10  # of a split or a merge: an account has few per second


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
    is_agreed: bool,
    target: float,
    merge_below: float,
    checkpoint: str | None,
    cloudwatch: str | None,
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
    or a no to the question; 2 an error.
    """
    if is_applied and is_json:
        raise click.UsageError("--apply excludes --json")
    if merge_below > target:
        raise click.UsageError(f"--merge-below {merge_below:g} must be at most --target {target:g}")
    has_metrics = connection.endpoint is None or cloudwatch is not None
    with progress("reading shards") as advance:
        found = advise(
            stream,
            kinesis=connection.kinesis(),
            cloudwatch=connection.service("cloudwatch", cloudwatch) if has_metrics else None,
            checkpoint=None if checkpoint is None else connection.checkpoint(checkpoint),
            target=target / 100,
            merge_below=merge_below / 100,
            advance=advance,
            **given,
        )
    if is_json:
        print_json(found)
    else:
        _show(found, screen())
    if is_applied and found.steps:
        _apply(connection.kinesis(attempts=_ATTEMPTS), stream, found, is_agreed=is_agreed)
        return int(bool(found.layout.hot))
    return int(bool(found.steps or found.layout.hot))


def _apply(client: KinesisClient, stream: str, found: Advice, *, is_agreed: bool) -> None:
    """Ask, and make the splits and merges."""
    need_room(found.steps, client.describe_limits())
    count = len(found.steps)
    to_stderr(f"{count} calls, one after the other. Each takes up to a minute on AWS.")
    agree("Make these calls?", is_agreed=is_agreed)
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
