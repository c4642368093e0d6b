"""The command ``spark-kinesis advise``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from spark_kinesis._times import utc_now
from spark_kinesis.cli import Connection, connection_options, print_json, progress_bar, screen
from spark_kinesis.tools.facts.streams import StreamSummary, describe

from .advice import Advice, advise_stream
from .apply import Saved
from .before import plan
from .change import change, saved_of
from .document import document
from .measure import Measured, measure
from .measure.lag import Lag, lag_of
from .options import Options, advise_options
from .report import show

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient
    from rich.progress import Progress


@click.command("advise")
@advise_options
@click.option("--json", "is_json", is_flag=True, help="Print one JSON document.")
@connection_options
def advise(connection: Connection, *, is_json: bool, **given: Any) -> int:
    """Say how many shards a stream needs, where to split, and how large a job should be.

    Each answer has its reasons and figures. With --stream, the command asks CloudWatch for the
    rates, and samples records to see which keys are frequent. It reads at most one fifth of the
    read quota of a shard. With --plan, it calls nothing.

    Sampling takes about 4 to 16 seconds per ten shards, because ten shards are read at once, with 4
    to 16 calls each and a pause of a second or more between two calls: for 1,000 shards 7 to 27
    minutes.

    \b
    Calls: DescribeStreamSummary, ListShards, GetShardIterator, GetRecords, and GetMetricData of
    CloudWatch. It changes nothing, unless you say --apply: then it also calls DescribeLimits,
    SplitShard and MergeShards.

    \b
    Examples:
      spark-kinesis advise --stream orders --seconds-per-event 0.002
      spark-kinesis advise --stream orders --apply --save orders.json
      spark-kinesis advise --plan --events-per-minute 100000 --bytes 800

    Exit codes: 0 nothing to change, or changed; 1 shards to split or merge, a key that is too hot,
    or a declined confirmation; 2 an error. A plan ends with 0.
    """
    options = Options(given)
    try:
        options.check(is_json=is_json)
        wishes = options.wishes()  # wrong options are found before the measurement
        if given["is_plan"]:
            return _told(plan(options.expected(), wishes), is_json=is_json)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    kinesis = connection.kinesis()
    summary = describe(kinesis, given["stream"])
    if given["resume"] is not None:
        saved = Saved.read(given["resume"])
        saved.check(summary, given["resume"])
        return change(kinesis, saved, options.consent())
    found = advise_stream(_measured(connection, kinesis, summary, options), wishes)
    code = _told(found, is_json=is_json)
    if given["is_applied"] and found.steps:
        return change(kinesis, saved_of(found, summary), options.consent())
    return code


def _told(advice: Advice, *, is_json: bool) -> int:
    """Print an advice. Returns the exit code."""
    if is_json:
        print_json(document(advice))
    else:
        show(advice, screen())
    return int(advice.is_finding)


def _measured(
    connection: Connection, kinesis: KinesisClient, summary: StreamSummary, options: Options
) -> Measured:
    with progress_bar() as bar:
        lag = _lag(connection, kinesis, summary, options, bar)
        task = bar.add_task("sampling shards")
        found = measure(
            kinesis,
            _cloudwatch(connection, options),
            options.asked(summary.arn, lag.age),
            lambda done, total: bar.update(task, completed=done, total=total),
        )
    return replace(found, notes=(*found.notes, *lag.notes()))


def _lag(
    connection: Connection,
    kinesis: KinesisClient,
    summary: StreamSummary,
    options: Options,
    bar: Progress,
) -> Lag:
    """How far the job is behind. Without its checkpoint, this is unknown."""
    location = options.given["checkpoint"]
    if location is None:
        return Lag(age=None)
    task = bar.add_task("reading the lag of shards")
    return lag_of(
        kinesis,
        connection.checkpoint(location),
        summary.arn,
        summary.server_time or utc_now(),
        lambda done, total: bar.update(task, completed=done, total=total),
    )


def _cloudwatch(connection: Connection, options: Options) -> Any | None:
    """A client of CloudWatch. A Kinesis that is not that of AWS has none, unless it is named."""
    given = options.given
    endpoint = given["cloudwatch_endpoint"]
    if given["no_cloudwatch"] or (connection.endpoint is not None and endpoint is None):
        return None
    return connection.service("cloudwatch", endpoint)
