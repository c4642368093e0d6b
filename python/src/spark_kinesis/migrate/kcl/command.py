"""The command ``spark-kinesis migrate to-kcl``."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from spark_kinesis._errors import MigrationError
from spark_kinesis.checkpoint import chosen_streams, next_position
from spark_kinesis.checkpoint.offset import stream_name
from spark_kinesis.tools.cli import (
    SOURCE,
    Connection,
    connection_options,
    print_json,
    progress_bar,
    screen,
    to_stderr,
)

from .handing_back import HandBack, hand_back
from .handing_back_report import document, lines, warnings
from .table import CAPACITY_PER_SECOND, scan_leases
from .writing import create_table, require_stopped, write_leases

if TYPE_CHECKING:
    from spark_kinesis.checkpoint import Checkpoint

    from .leases import Lease


LOSS = 1


@click.command("to-kcl")
@click.argument("table", metavar="TABLE")
@click.option("--checkpoint", "location", required=True, metavar="PATH", help="folder or URL")
@click.option("--stream", help="name or ARN of the only stream to hand back (default: all)")
@click.option(
    "--source", type=SOURCE, help="number or name of the source, if several are of Kinesis"
)
@click.option("--create-table", "is_new", is_flag=True, help="create the table")
@click.option("--dynamodb-endpoint", metavar="URL", help="URL of DynamoDB (default: AWS)")
@click.option(
    "--capacity",
    type=click.FloatRange(0, min_open=True),
    default=CAPACITY_PER_SECOND,
    show_default=True,
    help="capacity units of the table to use per second",
)
@click.option(
    "--watch",
    type=click.FloatRange(0),
    default=15.0,
    show_default=True,
    help="seconds to watch the table for a running application",
)
@click.option(
    "--allow-data-loss",
    "allow_loss",
    is_flag=True,
    help="write the leases although unread records have expired",
)
@click.option("--dry-run", is_flag=True, help="only show the leases")
@click.option("--json", "as_json", is_flag=True, help="print one JSON document")
@connection_options
def to_kcl(
    *,
    connection: Connection,
    table: str,
    location: str,
    stream: str | None,
    source: str | None,
    is_new: bool,
    dynamodb_endpoint: str | None,
    capacity: float,
    watch: float,
    allow_loss: bool,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Hand the positions of a query back to the Kinesis Client Library.

    Stop the query first. The application continues after the newest completed micro-batch. TABLE
    is its lease table. The command is refused while an application changes the table: a running one
    does so every few seconds. Choose a --watch that is longer than its failover time.

    If a micro-batch was planned and not completed, a sink may have written it. The application
    reads its records again.

    Calls: Scan, PutItem and UpdateItem of the table, with --create-table also CreateTable and
    DescribeTable; DescribeStreamSummary, ListShards, GetShardIterator and GetRecords.

    If unread records have expired, or may have, no lease is written, unless you set
    --allow-data-loss.

    Exit codes: 0 success; 1 unread records have expired, or may have; 2 an error.

    \b
    Example:
      spark-kinesis migrate to-kcl orders-app --checkpoint s3://bucket/checkpoints/orders
    """
    dynamodb = connection.service("dynamodb", dynamodb_endpoint)
    seen = [] if is_new else scan_leases(dynamodb, table, capacity)
    checkpoint = connection.checkpoint(location)
    backs = _hand_backs(connection, checkpoint, source, stream, seen)
    planned = checkpoint.unfinished()
    losses = [text for it in backs for text in it.losses]
    is_refused = bool(losses) and not allow_loss
    is_written = not dry_run and not is_refused
    if is_written:
        if is_new:
            create_table(dynamodb, table)
        else:
            _watch(watch)
            require_stopped(table, seen, scan_leases(dynamodb, table, capacity))
        _write(dynamodb, table, backs, seen, capacity)
    if as_json:
        about = {"table": table, "isWritten": is_written, "plannedBatches": planned}
        print_json({**about, "streams": document(backs)})
    else:
        for line in lines(table, backs, is_written=is_written):
            screen().print(line)
    for text in warnings(losses, planned, is_refused=is_refused):
        to_stderr(text)
    return LOSS if is_refused else 0


def _hand_backs(
    connection: Connection,
    checkpoint: Checkpoint,
    source: str | None,
    stream: str | None,
    seen: list[Lease],
) -> list[HandBack]:
    offset = next_position(checkpoint, source)
    arns = chosen_streams(offset, stream)
    client = connection.kinesis()
    alone = len(arns) == 1
    backs = [hand_back(client, it, offset.streams[it], seen, is_alone=alone) for it in arns]
    if len(backs) > 1 and not backs[0].prefix:
        names = ", ".join(stream_name(arn) for arn in arns)
        raise MigrationError(
            f"the table is for one stream, and the query reads several: {names}. Choose one with "
            "--stream."
        )
    return backs


def _watch(seconds: float) -> None:
    with progress_bar() as bar:
        task = bar.add_task("looking for a running application", total=seconds)
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            time.sleep(min(left, 0.2))
            bar.update(task, completed=seconds - left)


def _write(
    dynamodb: Any, table: str, backs: list[HandBack], seen: list[Lease], capacity: float
) -> None:
    by_key = {it.key.prefix + it.key.shard: it for it in seen}
    with progress_bar() as bar:
        task = bar.add_task("writing leases", total=sum(len(it.leases) for it in backs))

        def pause() -> None:
            bar.advance(task)
            time.sleep(1 / capacity)

        for it in backs:
            write_leases(dynamodb, table, it.leases, by_key, it.prefix, pause=pause)
