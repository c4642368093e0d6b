"""Looks at a query from outside: at its checkpoint and its streams.

The function is ``look``, and the command ``spark-kinesis top``.
"""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.live import Live

from spark_kinesis._boto import aws_errors
from spark_kinesis._errors import CheckpointError
from spark_kinesis._times import utc_now
from spark_kinesis._watch import screen, sentences
from spark_kinesis._watch.snapshot import (
    Forecast,
    MicroBatch,
    Outlook,
    ShardView,
    Snapshot,
    Step,
    complete,
    shards_of,
    snapshot,
)
from spark_kinesis.tools import cli
from spark_kinesis.tools.facts.checkpoints import Checkpoint, next_position
from spark_kinesis.tools.facts.lags import lag, probe_each
from spark_kinesis.tools.facts.streams import describe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import timedelta

    from mypy_boto3_kinesis import KinesisClient

    from spark_kinesis._offsets import SourceOffset
    from spark_kinesis._watch.snapshot import ShardKey

__all__ = ["Forecast", "MicroBatch", "Outlook", "ShardView", "Snapshot", "look"]

LOSES = 1
MOST_STEPS = 20
TIMEOUT_SECONDS = 10.0  # so that a call without an answer holds up neither the screen nor Ctrl-C
PERIOD_SECONDS = 5
_MOST_FAILURES = 3


def look(
    checkpoint: Checkpoint | str,
    *,
    kinesis: KinesisClient,
    source: str | None = None,
) -> Snapshot:
    """What a streaming query is doing, as its checkpoint and its streams show it.

    The query may run anywhere, or not at all. One record of each shard is read, ten shards at a
    time.

    Args:
        checkpoint: the checkpoint, or its folder or URL.
        kinesis: boto3's client of Kinesis, in the region of the streams.
        source: number or name of the source, if several are of Kinesis.

    Returns:
        The lag, the speed and a forecast of each shard and of the query.

    Raises:
        CheckpointError: if it is not the checkpoint of a query that reads from Kinesis.
        botocore.exceptions.ClientError: if a stream cannot be described.
    """
    opened = Checkpoint.of(checkpoint)
    steps, batch, position = read_log(opened, source)
    streams = {arn: describe(kinesis, arn) for arn in position.streams}
    now = max((it.server_time for it in streams.values() if it.server_time), default=utc_now())
    lags: dict[ShardKey, timedelta | None] = {}
    notes: list[str] = []
    for arn, stream in position.streams.items():
        places = list(stream.shards.items())
        answers = probe_each(kinesis, arn, places)
        for (shard, at), answer in zip(places, answers, strict=True):
            if isinstance(answer, Exception):
                notes.append(f"{shard} of {arn} could not be read: {answer}")
                lags[arn, shard] = lag(at, None, now)
            else:
                lags[arn, shard] = lag(at, answer, now)
    return snapshot(
        at=now,
        query=opened.location,
        batch=batch,
        steps=steps,
        positions=shards_of(position),
        lags=lags,
        retention={arn: it.retention for arn, it in streams.items()},
        notes=tuple(notes[:_MOST_FAILURES]),
    )


def read_log(
    checkpoint: Checkpoint, wanted: str | None
) -> tuple[list[Step], MicroBatch | None, SourceOffset]:
    """The latest completed micro-batches, the latest one, and the end of the completed ones."""
    planned = checkpoint.planned()[-MOST_STEPS:]
    completed = set(checkpoint.completed())
    steps: list[Step] = []
    latest, position = None, None
    for number in planned:
        try:
            batch = checkpoint.batch(number)
        except CheckpointError:
            if number == planned[-1]:
                raise
            continue  # Spark removes old ones at any moment.
        latest = MicroBatch(
            number=number, planned=batch.planned, is_running=number not in completed
        )
        if number in completed:
            position = checkpoint.position(batch, checkpoint.source(batch, wanted))
            # After a watermark has advanced, Spark plans micro-batches that do not move a source.
            has_moved = not steps or complete(position) != steps[-1].complete
            if batch.planned is not None and has_moved:
                steps.append(Step(at=batch.planned, complete=complete(position)))
    return steps, latest, position or next_position(checkpoint, wanted)


@click.command("top")
@click.option("--checkpoint", required=True, metavar="PATH", help="folder or URL of the checkpoint")
@click.option(
    "--source",
    type=cli.SOURCE,
    help="number or name of the Kinesis source, if the query has several",
)
@click.option("--once", is_flag=True, help="look once, and end")
@click.option("--json", "as_json", is_flag=True, help="print one line of JSON per look")
@click.option(
    "--html",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    metavar="FILE",
    help="look once, and write a page; an existing file is replaced",
)
@cli.storage_option
@cli.connection_options
def top(
    *,
    checkpoint: str,
    source: str | None,
    once: bool,
    as_json: bool,
    html: Path | None,
    connection: cli.Connection,
) -> int:
    """Watch a streaming query from outside, until Ctrl-C.

    Reads the checkpoint and the stream. Shows for each shard its lag, how fast the query reads it,
    what waits for a parent, and a forecast: when the query catches up, or when records expire that
    it has not read. The query may run anywhere, or not at all. Nothing is changed.

    \b
    Examples:
      spark-kinesis top --checkpoint s3://bucket/checkpoints/orders
      spark-kinesis top --checkpoint /checkpoints/orders --once --json
      spark-kinesis top --checkpoint /checkpoints/orders --html ticket.html

    Without a terminal, each look is one line, but --once prints the table. With --html, the same
    table is a page for a ticket. The page is one file, and loads nothing from elsewhere.

    Calls: DescribeStreamSummary, GetShardIterator, GetRecords. The command looks every five
    seconds. A look reads one record of each shard, ten shards at a time.

    Exit codes: 0 success, also after Ctrl-C; with --once or --html 1 if unread records will expire;
    2 an error.
    """
    kinesis = replace(connection, timeout=TIMEOUT_SECONDS).kinesis(attempts=1)
    again = partial(look, connection.checkpoint(checkpoint), kinesis=kinesis, source=source)
    first = again()
    if not (once or html):
        with suppress(KeyboardInterrupt):
            _show(_looks(first, again), as_json=as_json)
        return 0
    if html:
        html.write_text(screen.html(first), "utf-8")
    if as_json:
        cli.print_json(first)
    else:
        cli.screen().print(html or screen.screen(first))
    return LOSES if first.loses_data else 0


def _looks(first: Snapshot, again: Callable[[], Snapshot]) -> Iterator[Snapshot]:
    """The first look, and later ones. One that fails is a note to the last one."""
    errors: tuple[type[Exception], ...] = (CheckpointError, *aws_errors())
    found = first
    while True:
        yield found
        time.sleep(PERIOD_SECONDS)
        try:
            found = again()
        except errors as error:
            found = replace(found, notes=(str(error),))


def _show(looks: Iterator[Snapshot], *, as_json: bool) -> None:
    if as_json:
        for found in looks:
            cli.print_json(found)
    elif not sys.stdout.isatty():
        for found in looks:
            click.echo(sentences.line(found))
    else:
        console = cli.screen()
        with Live(console=console, screen=True, auto_refresh=False) as live:
            for found in looks:
                live.update(screen.screen(found, console.height), refresh=True)
