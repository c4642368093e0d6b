"""The command ``spark-kinesis migrate to-kcl``."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from spark_kinesis._errors import MigrationError
from spark_kinesis._times import instant
from spark_kinesis.checkpoint import chosen_streams, next_position
from spark_kinesis.checkpoint.offset import stream_name
from spark_kinesis.cli import (
    SOURCE,
    Connection,
    connection_options,
    print_json,
    progress_bar,
    screen,
)

from .handing_back import HandBack, hand_back
from .table import CAPACITY_PER_SECOND, scan_leases
from .writing import create_table, require_stopped, write_leases

if TYPE_CHECKING:
    from spark_kinesis.checkpoint import Checkpoint

    from .leases import Lease


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
    help="seconds to see whether an application is running",
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
    dry_run: bool,
    as_json: bool,
) -> None:
    r"""Hand the positions of a query back to the Kinesis Client Library.

    Stop the query first. The application continues after the newest completed micro-batch. TABLE
    is its lease table. The command is refused while an application changes the table: a running one
    does so every few seconds. Choose a --watch that is longer than its failover time.

    Calls: Scan, PutItem and UpdateItem of the table, with --create-table also CreateTable and
    DescribeTable; DescribeStreamSummary, ListShards, GetShardIterator and GetRecords.

    \b
    Example:
      spark-kinesis migrate to-kcl orders-app --checkpoint s3://bucket/checkpoints/orders
    """
    dynamodb = connection.service("dynamodb", dynamodb_endpoint)
    seen = [] if is_new else scan_leases(dynamodb, table, capacity)
    backs = _hand_backs(connection, connection.checkpoint(location), source, stream, seen)
    if not dry_run:
        if is_new:
            create_table(dynamodb, table)
        else:
            _watch(watch)
            require_stopped(table, seen, scan_leases(dynamodb, table, capacity))
        _write(dynamodb, table, backs, seen, capacity)
    _print(table, backs, is_written=not dry_run, as_json=as_json)


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


def _print(table: str, backs: list[HandBack], *, is_written: bool, as_json: bool) -> None:
    if as_json:
        streams = [
            {
                "stream": it.arn,
                "leases": {
                    lease.shard.id: {"checkpoint": lease.checkpoint, "subSequenceNumber": lease.sub}
                    for lease in it.leases
                },
                "initialPosition": it.begins,
            }
            for it in backs
        ]
        print_json({"table": table, "isWritten": is_written, "streams": streams})
        return
    for it in backs:
        for lease in it.leases:
            place = f"{stream_name(it.arn)} {lease.shard.id}"
            screen().print(f"{place}: {lease.checkpoint} ({lease.sub})")
        if it.begins is not None:
            screen().print(
                f"{stream_name(it.arn)}: configure the application to begin at {instant(it.begins)}"
            )
    screen().print(f"Written to table {table}." if is_written else "Nothing was changed.")
