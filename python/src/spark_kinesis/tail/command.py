"""The command ``spark-kinesis tail``."""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

import click

from spark_kinesis._times import utc_now
from spark_kinesis.cli import Connection, connection_options, print_json, to_stderr
from spark_kinesis.tools.facts.streams import describe, list_shards

from .follow import Follower, Times
from .rows import HEADER, Row, as_json, line, rows_of
from .start import Start, first_shards, parse_start

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient


@click.command("tail")
@click.option("--stream", required=True, help="Name or ARN of the stream.")
@click.option("--shard", "shards", multiple=True, help="ID or number of a shard; repeatable.")
@click.option(
    "--from",
    "start",
    default="latest",
    show_default=True,
    help="latest, trim_horizon, a time such as 2026-01-02T03:04Z, or a time ago such as 10m.",
)
@click.option("--raw", is_flag=True, help="Show an aggregated record as one.")
@click.option("--count", type=click.IntRange(1), help="Number of rows to show (default: no limit).")
@click.option("--no-follow", is_flag=True, help="End when all records are shown.")
@click.option(
    "--width",
    type=click.IntRange(4),
    default=200,
    show_default=True,
    help="Characters of data per row.",
)
@click.option("--json", "is_json", is_flag=True, help="Print one JSON object per row.")
@connection_options
def tail(
    connection: Connection,
    *,
    stream: str,
    shards: tuple[str, ...],
    start: str,
    raw: bool,
    count: int | None,
    no_follow: bool,
    width: int,
    is_json: bool,
) -> int:
    """Show records as they arrive: age, shard, size, key and data.

    Rows of aggregated records (KPL) are shown one by one, with their number and the program that
    wrote them. The command follows splits and merges: it reads a shard after its parents. It uses
    at most a fifth of the read quota of a shard, and ends at Ctrl-C.

    \b
    Calls: DescribeStreamSummary, ListShards, GetShardIterator, GetRecords.

    \b
    Examples:
      spark-kinesis tail --stream orders
      spark-kinesis tail --stream orders --shard 3 --from 10m --raw
      spark-kinesis tail --stream orders --from trim_horizon --no-follow --json > orders.jsonl

    Exit codes: 0 success, 2 an error.
    """
    client, now = connection.kinesis(), utc_now()
    try:
        position = parse_start(start, now)
        follower = _follower(client, stream, position, shards)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    found = _rows(follower, is_raw=raw, until_tip=no_follow)
    try:
        _show(islice(found, count), width, is_json=is_json)
    except KeyboardInterrupt:
        pass  # the normal end
    except BrokenPipeError:
        sys.stdout = None  # the reader has ended, such as `head`: there is nothing left to flush
    return 0


def _follower(
    client: KinesisClient, stream: str, start: Start, chosen: tuple[str, ...]
) -> Follower:
    summary = describe(client, stream)
    first = first_shards(summary.name, list_shards(client, summary.arn), start, chosen)
    return Follower(
        client,
        summary.arn,
        start=start,
        first=first,
        waits_for_all=not chosen,
        times=Times(now=time.monotonic, sleep=time.sleep, chance=random.random),
    )


def _rows(follower: Follower, *, is_raw: bool, until_tip: bool) -> Iterator[Row]:
    for shard, records in follower.pages(until_tip=until_tip):
        for record in records:
            yield from rows_of(shard, record, is_raw=is_raw)


def _show(rows: Iterator[Row], width: int, *, is_json: bool) -> None:
    if not is_json:
        to_stderr(HEADER)
    for row in rows:
        if is_json:
            print_json(as_json(row))
        else:
            click.echo(line(row, utc_now(), width))
