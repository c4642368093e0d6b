"""The command ``spark-kinesis migrate``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import click

from spark_kinesis.tools.cli import SOURCE, Connection, print_json, progress_bar, screen, to_stderr

from .kcl.command import to_kcl
from .kcl.table import CAPACITY_PER_SECOND, kcl_streams, scan_leases
from .migration import StreamMigration, source_offset, take_over
from .new_checkpoint import require_new, write_new
from .options import Entry, entry_options
from .position_file import read_positions
from .report import document, lines
from .spark_checkpoints import AWSLABS, QUBOLE, read_stops
from .stops import StreamStops

LOSS = 1
_EXAMPLES = """\b
Examples:
  spark-kinesis migrate kcl orders-app --stream orders --checkpoint s3://bucket/orders-v2
  spark-kinesis migrate to-kcl orders-app --checkpoint s3://bucket/orders-v2"""
_EXIT_CODES = "Exit codes: 0 success; 1 records are lost or skipped; 2 an error."


@click.group("migrate", epilog=_EXAMPLES)
def migrate() -> None:
    """Continue in a new query where another consumer stopped, or hand positions back to the KCL.

    Stop the other consumer first. Each subcommand except `to-kcl` reads the positions of the other
    consumer and the records around them, shows what the new query will read first, and writes a
    checkpoint of this connector. Start the query with that checkpoint, and with the same streams.

    If records are lost or skipped between the two consumers, no checkpoint is written, unless you
    set --allow-data-loss.

    Exit codes: 0 success; 1 records are lost or skipped; 2 an error.
    """


@migrate.command("kcl", epilog=_EXIT_CODES)
@click.argument("name", metavar="TABLE")
@click.option("--dynamodb-endpoint", metavar="URL", help="URL of DynamoDB (default: AWS)")
@click.option(
    "--capacity",
    type=click.FloatRange(0, min_open=True),
    default=CAPACITY_PER_SECOND,
    show_default=True,
    help="read capacity units of the table to use per second",
)
@click.option(
    "--ignore-creation-time",
    is_flag=True,
    help="accept leases whose creation time is not that of the stream",
)
@entry_options
def kcl(
    *,
    entry: Entry,
    connection: Connection,
    name: str,
    dynamodb_endpoint: str | None,
    capacity: float,
    ignore_creation_time: bool,
) -> int:
    """Take over from the Kinesis Client Library 1, 2 or 3, or from Spark DStreams.

    TABLE is the lease table in DynamoDB, which has the name of the application. Calls: Scan of the
    table; DescribeStreamSummary, ListShards, GetShardIterator and GetRecords.

    \b
    Example:
      spark-kinesis migrate kcl orders-app --stream orders --checkpoint s3://bucket/orders-v2
    """
    dynamodb = connection.service("dynamodb", dynamodb_endpoint)
    leases = scan_leases(dynamodb, name, capacity)
    streams = kcl_streams(
        leases,
        name,
        connection.kinesis(),
        entry.stream,
        entry.at,
        ignore_creation_time=ignore_creation_time,
    )
    return _move(streams, entry, connection)


@migrate.command("file", epilog=_EXIT_CODES)
@click.argument("path", metavar="FILE")
@entry_options
def file(*, entry: Entry, connection: Connection, path: str) -> int:
    """Take over from any consumer, with positions in a JSON or CSV file.

    FILE has one row per shard with the fields shard and sequenceNumber: the last record that was
    read. Optional fields: stream, subSequenceNumber, timestamp, and position, which is
    AFTER_SEQUENCE_NUMBER (default), AT_SEQUENCE_NUMBER, AT_TIMESTAMP, TRIM_HORIZON, LATEST or
    SHARD_END.

    \b
    Example:
      spark-kinesis migrate file positions.csv --stream orders --checkpoint s3://bucket/orders-v2
    """
    found = read_positions(path, entry.stream, entry.at)
    streams = [StreamStops(stream=it, stops=stops) for it, stops in found.items()]
    return _move(streams, entry, connection)


def _from_spark(folder: str, connector: str) -> click.Command:
    """A command for a connector that has checkpoints of its own."""

    @click.option(
        "--metadata", "metadata", metavar="PATH", help="the query's option for the metadata path"
    )
    @click.option(
        "--from-source", type=SOURCE, default="0", show_default=True, help="its source, as --source"
    )
    @click.argument("old", metavar="CHECKPOINT")
    @entry_options
    def command(
        *,
        entry: Entry,
        connection: Connection,
        old: str,
        from_source: str,
        metadata: str | None,
    ) -> int:
        elsewhere = None if metadata is None else connection.files(metadata)
        found = read_stops(connection.checkpoint(old), folder, from_source, elsewhere)
        if entry.stream is not None:
            found = replace(found, stream=entry.stream)
        return _move([found], entry, connection)

    name = connector.partition("'")[0].lower()
    command.__doc__ = f"""Take over from {connector}.

    CHECKPOINT is the checkpoint location of the old query, which stays as it is. The new query
    begins after the newest completed micro-batch.

    \b
    Example:
      spark-kinesis migrate {name} s3://bucket/old --checkpoint s3://bucket/orders-v2
    """
    return click.command(name, help=command.__doc__, epilog=_EXIT_CODES)(command)


migrate.add_command(_from_spark(AWSLABS, "awslabs' spark-sql-kinesis-connector"))
migrate.add_command(_from_spark(QUBOLE, "Qubole's kinesis-sql"))
migrate.add_command(to_kcl)


def _move(streams: Sequence[StreamStops], entry: Entry, connection: Connection) -> int:
    files = connection.files(entry.location)
    require_new(files, entry.source)
    client = connection.kinesis()
    with progress_bar() as bar:
        migrations = [_take_over(client, it.with_latest_at(entry.at), entry, bar) for it in streams]
    losses = [text for it in migrations for text in it.losses]
    is_written = not entry.dry_run and (entry.allow_loss or not losses)
    if is_written:
        write_new(files, entry.source, source_offset(migrations))
    if entry.as_json:
        shown = {"checkpoint": files.location, "isWritten": is_written}
        print_json({**shown, "streams": document(migrations)})
    else:
        for line in lines(migrations):
            screen().print(line)
        _conclude(entry, files.location, losses, is_written=is_written)
    return LOSS if losses and not entry.allow_loss else 0


def _take_over(client: Any, found: StreamStops, entry: Entry, bar: Any) -> StreamMigration:
    task = bar.add_task(found.stream, total=None)

    def advance(done: int, total: int) -> None:
        bar.update(task, completed=done, total=total)

    return take_over(client, found, others=entry.others, advance=advance)


def _conclude(entry: Entry, place: str, losses: Sequence[str], *, is_written: bool) -> None:
    for text in losses:
        to_stderr(text)
    if is_written:
        to_stderr(f"Written: {place}. Start the query with this checkpoint location.")
    elif losses and not entry.dry_run:
        to_stderr(
            "No checkpoint was written. To begin with the records that are left, set "
            "--allow-data-loss."
        )
