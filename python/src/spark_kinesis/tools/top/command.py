"""The command ``spark-kinesis top``."""

from __future__ import annotations

import itertools
import math
import sys
import time
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.live import Live

from spark_kinesis import __version__
from spark_kinesis._watch import sentences, terminal
from spark_kinesis._watch.page import History, check_matplotlib, page
from spark_kinesis.tools.changes import progress
from spark_kinesis.tools.cli import (
    DURATION,
    SOURCE,
    Connection,
    connection_options,
    print_json,
    screen,
    storage_option,
)

from . import OutsideView

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spark_kinesis._watch.snapshot import Snapshot

LOSES = 1
TIMEOUT_SECONDS = 10.0  # so that a call without an answer holds up neither the screen nor Ctrl-C
_SHORTEST = timedelta(milliseconds=500)
_PAGE_LENGTH = timedelta(seconds=30)


def _interval(_context: Any, _option: Any, value: timedelta) -> timedelta:
    if value < _SHORTEST:
        raise click.BadParameter("it must be at least 500ms")
    return value


def _file(_context: Any, _option: Any, value: Path | None) -> Path | None:
    if value is not None and not value.parent.is_dir():
        raise click.BadParameter(f"there is no folder {value.parent}")
    return value


@click.command("top")
@click.option("--checkpoint", required=True, metavar="PATH", help="folder or URL of the checkpoint")
@click.option(
    "--source", type=SOURCE, help="number or name of the Kinesis source, if the query has several"
)
@click.option(
    "--interval",
    type=DURATION,
    default="2s",
    show_default=True,
    callback=_interval,
    help="time between two looks, at least 500ms",
)
@click.option(
    "--for", "length", type=DURATION, help="end after this time (default: never; with --html 30s)"
)
@click.option("--once", is_flag=True, help="look once, at every shard, and end")
@click.option("--json", "as_json", is_flag=True, help="print one line of JSON per look")
@click.option(
    "--html",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    metavar="FILE",
    callback=_file,
    help="write a page with charts instead; an existing file is replaced",
)
@storage_option
@connection_options
def top(
    *,
    checkpoint: str,
    source: str | None,
    interval: timedelta,
    length: timedelta | None,
    once: bool,
    as_json: bool,
    html: Path | None,
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
      spark-kinesis top --checkpoint /checkpoints/orders --html ticket.html --for 1m

    Without a terminal, each look is one line, but --once prints the table. With --html, the command
    watches the query and writes a page for a ticket: the figures of all shards, the splits and
    merges, charts, the forecast, and the figures as JSON. The page is one file, and loads nothing
    from elsewhere. Ctrl-C writes it early. The command prints the name of the file.

    Calls: DescribeStreamSummary, ListShards, GetShardIterator, GetRecords. A shard is read at most
    once in five seconds, up to about 64 kB, and all shards at most 20 times per second together.
    The first look reads one shard of each stream twice. With --once or --html, it reads every
    shard, ten at a time.

    Exit codes: 0 success, also after Ctrl-C; with --once or --html 1 if unread records will expire;
    2 an error.
    """
    if html and as_json:
        raise click.UsageError("--html and --json exclude each other: the page contains the JSON")
    if once and length is not None:
        raise click.UsageError("--once and --for exclude each other")
    if html:
        check_matplotlib()
    kinesis = replace(connection, timeout=TIMEOUT_SECONDS).kinesis(attempts=1)
    view = OutsideView(connection.checkpoint(checkpoint), source, kinesis)
    if html:
        if length is None:
            length = timedelta() if once else _PAGE_LENGTH
        found = _page(view, html, interval, length)
    elif once:
        found = _look_at_all(view)
        if as_json:
            print_json(found.document)
        else:
            screen().print(terminal.screen(found))
    else:
        with suppress(KeyboardInterrupt):
            _show(_looks(view, view.look(interval), interval, length), as_json=as_json)
        return 0
    return LOSES if found.loses_data else 0


def _look_at_all(view: OutsideView) -> Snapshot:
    """Look at every shard once. A bar on standard error shows how far it is."""
    with progress("Reading shards") as advance:
        return view.look_at_all(advance)


def _looks(
    view: OutsideView, first: Snapshot, interval: timedelta, length: timedelta | None
) -> Iterator[Snapshot]:
    """The first look, and one after each interval until this time has passed."""
    yield first
    pause, begun = interval.total_seconds(), time.monotonic()
    end, last = math.inf if length is None else begun + length.total_seconds(), begun
    while (left := end - time.monotonic()) > 0:
        time.sleep(min(pause, left))
        passed, last = time.monotonic() - last, time.monotonic()
        yield view.look(timedelta(seconds=passed))


def _show(looks: Iterator[Snapshot], *, as_json: bool) -> None:
    if as_json:
        for found in looks:
            print_json(found.document)
    elif not sys.stdout.isatty():
        for found in looks:
            click.echo(sentences.line(found))
    else:
        console = screen()
        with Live(console=console, screen=True, auto_refresh=False) as live:
            for found in looks:
                live.update(terminal.screen(found, console.height), refresh=True)


def _page(view: OutsideView, file: Path, interval: timedelta, length: timedelta) -> Snapshot:
    """Watch, and write the page. Returns its last look."""
    first = _look_at_all(view)
    history = History(first)
    begun = time.monotonic()
    with suppress(KeyboardInterrupt), progress("Watching the query") as advance:
        for found in itertools.islice(_looks(view, first, interval, length), 1, None):
            history.add(found)
            advance(int(time.monotonic() - begun), int(length.total_seconds()))
    file.write_text(page(history, __version__), "utf-8")
    click.echo(file)
    return history.last
