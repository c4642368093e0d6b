"""The command ``spark-kinesis top``."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING

import click
from rich.live import Live

from spark_kinesis.tools.cli import (
    SOURCE,
    Connection,
    connection_options,
    print_json,
    progress_bar,
    screen,
    storage_option,
)

from .model.rotation import PROBES_PER_SECOND
from .outside import OutsideView
from .show import sentences, terminal
from .show.document import document

if TYPE_CHECKING:
    from .model.snapshot import Snapshot

DEFAULT_INTERVAL = 2.0
LOSES = 1
_BAR_FROM_SHARDS = 40

Pause = Callable[[float], None]


@click.command("top")
@click.option("--checkpoint", required=True, metavar="PATH", help="Folder or URL of the checkpoint")
@click.option(
    "--source", type=SOURCE, help="Number or name of the Kinesis source, if the query has several"
)
@click.option(
    "--interval",
    type=click.FloatRange(min=0.5, max=3600),
    default=DEFAULT_INTERVAL,
    show_default=True,
    metavar="SECONDS",
    help="Time between two looks",
)
@click.option("--once", is_flag=True, help="Look once, at every shard, and end")
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON per look")
@storage_option
@connection_options
def top(
    *,
    checkpoint: str,
    source: str | None,
    interval: float,
    once: bool,
    as_json: bool,
    connection: Connection,
) -> int:
    """Watch a streaming query from outside, until Ctrl-C.

    Reads the checkpoint and the stream. Shows for each shard its lag in time and an estimate of the
    unread records, the rates in and out, what waits for a parent, the splits and merges, and a
    forecast: when the query catches up, or when records expire that it has not read.
    The query may run anywhere, or not at all. Nothing is changed.

    \b
    Examples:
      spark-kinesis top --checkpoint s3://bucket/checkpoints/orders
      spark-kinesis top --checkpoint /checkpoints/orders --once --json

    Without a terminal, each look is one line.

    Calls: DescribeStreamSummary, ListShards, GetShardIterator, GetRecords. A shard is read at most
    once in five seconds, up to about 64 kB, and all shards at most 20 times per second together.
    The first look reads one shard of each stream twice.

    Exit codes: 0 success, also after Ctrl-C; with --once 1 if unread records will expire; 2 an
    error.
    """
    view = OutsideView(connection.checkpoint(checkpoint), source, connection.kinesis(attempts=1))
    view.open()
    if once:
        return _once(view, as_json=as_json)
    with suppress(KeyboardInterrupt):
        watch_until_interrupted(view, interval, as_json=as_json, pause=time.sleep)
    return 0


def _once(view: OutsideView, *, as_json: bool) -> int:
    found = look_at_all(view)
    if as_json:
        print_json(document(found))
    else:
        screen().print(terminal.screen(found))
    return LOSES if found.loses_data else 0


def look_at_all(view: OutsideView) -> Snapshot:
    """Look at every shard once. If that takes long, a bar on standard error shows how far it is."""
    enough = timedelta(seconds=view.shards / PROBES_PER_SECOND + 1)
    if view.shards < _BAR_FROM_SHARDS:
        return view.look(enough)
    with progress_bar() as progress:
        bar = progress.add_task("Reading shards", total=view.shards)
        return view.look(enough, lambda: progress.advance(bar))


def watch_until_interrupted(
    view: OutsideView, interval: float, *, as_json: bool, pause: Pause
) -> None:
    """Look again and again. Ends only by an exception, such as that of Ctrl-C.

    Args:
        view: what to look at.
        interval: seconds between two looks.
        as_json: whether to print JSON.
        pause: waits for a number of seconds.
    """
    passed = timedelta(seconds=interval)
    if as_json or not sys.stdout.isatty():
        while True:
            found = view.look(passed)
            if as_json:
                print_json(document(found))
            else:
                print(sentences.line(found), flush=True)
            pause(interval)
    console = screen()
    with Live(console=console, screen=True, auto_refresh=False) as live:
        while True:
            live.update(terminal.screen(view.look(passed), console.height), refresh=True)
            pause(interval)
