"""The command ``spark-kinesis report``."""

from __future__ import annotations

import time
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import click

from spark_kinesis import __version__
from spark_kinesis.tools.cli import (
    SOURCE,
    Connection,
    connection_options,
    progress_bar,
    storage_option,
)

from .command import LOSES, look_at_all
from .model.history import History
from .outside import OutsideView
from .show.charts import check_matplotlib
from .show.page import page

INTERVAL = 2.0
DEFAULT_SECONDS = 30


@click.command("report")
@click.option("--checkpoint", required=True, metavar="PATH", help="Folder or URL of the checkpoint")
@click.option(
    "--source", type=SOURCE, help="Number or name of the Kinesis source, if the query has several"
)
@click.option(
    "--output",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    default=Path("spark-kinesis-report.html"),
    show_default=True,
    help="File to write; an existing one is replaced",
)
@click.option(
    "--seconds",
    type=click.IntRange(min=0, max=3600),
    default=DEFAULT_SECONDS,
    show_default=True,
    help="How long to watch the query for the charts",
)
@storage_option
@connection_options
def report(
    *, checkpoint: str, source: str | None, output: Path, seconds: int, connection: Connection
) -> int:
    """Write what a streaming query is doing to a page of HTML, for example for a ticket.

    Watches the query from outside, as `spark-kinesis top` does, and makes the same calls. The page
    has the figures of all shards, the splits and merges, charts, a forecast, and the figures as
    JSON. It is one file, and loads nothing from elsewhere. Ctrl-C writes it early.

    \b
    Example:
      spark-kinesis report --checkpoint s3://bucket/checkpoints/orders --output ticket.html

    Prints the name of the file.

    Exit codes: 0 success, 1 if unread records will expire, 2 an error.
    """
    check_matplotlib()
    view = OutsideView(connection.checkpoint(checkpoint), source, connection.kinesis(attempts=1))
    view.open()
    history = History(look_at_all(view))
    with suppress(KeyboardInterrupt):
        _watch(view, history, seconds)
    output.write_text(page(history, __version__), "utf-8")
    click.echo(output)
    return LOSES if history.last.loses_data else 0


def _watch(view: OutsideView, history: History, seconds: int) -> None:
    with progress_bar() as progress:
        bar = progress.add_task("Watching the query", total=seconds)
        for _ in range(int(seconds / INTERVAL)):
            time.sleep(INTERVAL)
            history.add(view.look(timedelta(seconds=INTERVAL)))
            progress.advance(bar, INTERVAL)
