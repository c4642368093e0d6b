"""The commands of ``spark-kinesis migrate``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from spark_kinesis._times import utc_now
from spark_kinesis.tools.changes import (
    agree,
    progress,
    show_plan,
    watch_option,
    watched,
    yes_option,
)
from spark_kinesis.tools.cli import (
    FORMS,
    SOURCE,
    TIME,
    Connection,
    connection_options,
    json_option,
    print_json,
    read_time,
    screen,
    storage_option,
    to_stderr,
)

from . import (
    AWSLABS,
    CAPACITY_PER_SECOND,
    QUBOLE,
    Ends,
    HandOver,
    Stop,
    StopKind,
    StreamStops,
    TakeOver,
    ends_in_dynamodb,
    ends_in_files,
    hand_back,
    kcl_streams,
    read_positions,
    read_stops,
    require_stopped,
    scan_leases,
    take_over,
    watch_query,
)

Result = TypeVar("Result")
LOSS = 1
_EXAMPLES = """\b
Examples:
  spark-kinesis migrate kcl orders-app --stream orders --checkpoint s3://bucket/orders-v2
  spark-kinesis migrate to-kcl orders-app --checkpoint s3://bucket/orders-v2"""
_EXIT_CODES = (
    "Exit codes: 0 success; 1 records are lost or skipped, or a no to the question; 2 an error."
)
_ALLOW = "To begin with the records that are left, set --allow-data-loss."
_TAKE_OVER = "Is the other consumer stopped, and shall the new checkpoint be written?"
_HAND_BACK = "Are the query and the application stopped, and shall the leases be written?"


@click.group("migrate", epilog=_EXAMPLES)
def migrate() -> None:
    """Continue in a new query where another consumer stopped, or hand positions back to the KCL.

    Stop the other consumer first. Each subcommand except `to-kcl` reads the positions of the other
    consumer and the records around them, shows what the new query will read first, asks, and writes
    a checkpoint of this connector. Start the query with that checkpoint, and with the same streams.

    If records are lost or skipped between the two consumers, no checkpoint is written, unless you
    set --allow-data-loss.

    Exit codes: 0 success; 1 records are lost or skipped, or a no to the question; 2 an error.
    """


@dataclass(frozen=True, kw_only=True)
class Entry:
    """What to write, and what to accept: the options of all ways into a new checkpoint."""

    location: str
    source: str
    stream: str | None
    others: Stop | None
    at: datetime | None
    allow_loss: bool
    watch: float
    is_agreed: bool
    dry_run: bool
    as_json: bool


class _Others(click.ParamType):  # type: ignore[type-arg] # not generic before click 8.4
    name = "position"

    def convert(self, value: Any, param: Any, ctx: Any) -> Stop:
        if isinstance(value, Stop):
            return value
        text = str(value).strip()
        if text.lower() in ("trim_horizon", "latest"):
            return Stop(kind=StopKind(text.upper()))
        try:
            return Stop(kind=StopKind.AT_TIME, time=read_time(text, utc_now()))
        except ValueError:
            self.fail(f"{text!r} is not trim_horizon, latest, or {FORMS}", param, ctx)


_ENTRY_OPTIONS = (
    click.option(
        "--checkpoint", "location", required=True, metavar="NEW", help="new folder or URL"
    ),
    click.option(
        "--source",
        type=SOURCE,
        default="0",
        show_default=True,
        help="number of the source in the query, or its name if the query names its sources",
    ),
    click.option("--stream", help="name or ARN, if the positions do not name the stream"),
    click.option(
        "--others",
        type=_Others(),
        metavar="trim_horizon|latest|TIME",
        help="where to begin in shards unrelated to any given position",
    ),
    click.option(
        "--at",
        type=TIME,
        help="time for LATEST positions, and for AT_TIMESTAMP positions that do not contain one",
    ),
    click.option(
        "--allow-data-loss",
        "allow_loss",
        is_flag=True,
        help="write the checkpoint although unread records have expired or would be skipped "
        "because of LATEST",
    ),
    watch_option,
    yes_option,
    click.option("--dry-run", is_flag=True, help="only show what the query would read first"),
    json_option,
)


def _entry_options(command: Callable[..., Result]) -> Callable[..., Result]:
    """Add the options of ``Entry`` and the connection: the arguments ``entry``, ``connection``."""

    @wraps(command)
    def with_entry(**options: Any) -> Result:
        entry = Entry(**{name: options.pop(name) for name in Entry.__dataclass_fields__})
        return command(entry=entry, **options)

    for add in reversed(_ENTRY_OPTIONS):
        with_entry = add(with_entry)
    return storage_option(connection_options(with_entry))


_DYNAMODB_ENDPOINT = click.option(
    "--dynamodb-endpoint", metavar="URL", help="URL of DynamoDB (default: AWS)"
)
_CAPACITY = click.option(
    "--capacity",
    type=click.FloatRange(0, min_open=True),
    default=CAPACITY_PER_SECOND,
    show_default=True,
    help="capacity units of the table to use per second",
)


@migrate.command("kcl", epilog=_EXIT_CODES)
@click.argument("table", metavar="TABLE")
@_DYNAMODB_ENDPOINT
@_CAPACITY
@click.option(
    "--ignore-creation-time",
    is_flag=True,
    help="accept leases whose creation time is not that of the stream",
)
@_entry_options
def kcl(
    *,
    entry: Entry,
    connection: Connection,
    table: str,
    dynamodb_endpoint: str | None,
    capacity: float,
    ignore_creation_time: bool,
) -> int:
    """Take over from the Kinesis Client Library 1, 2 or 3, or from Spark DStreams.

    TABLE is the lease table in DynamoDB, which has the name of the application. The command is
    refused while an application changes the table: a running one does so every few seconds. Choose
    a --watch that is longer than its failover time. Calls: Scan of the table;
    DescribeStreamSummary, ListShards, GetShardIterator and GetRecords.

    \b
    Example:
      spark-kinesis migrate kcl orders-app --stream orders --checkpoint s3://bucket/orders-v2
    """
    dynamodb = connection.service("dynamodb", dynamodb_endpoint)
    leases = scan_leases(dynamodb, table, capacity)
    streams = kcl_streams(
        leases,
        table,
        connection.kinesis(),
        entry.stream,
        entry.at,
        ignore_creation_time=ignore_creation_time,
    )

    def watch() -> None:
        after = watched(lambda: scan_leases(dynamodb, table, capacity), entry.watch)
        require_stopped(table, leases, after)

    return _take_over(streams, entry, connection, watch)


@migrate.command("file", epilog=_EXIT_CODES)
@click.argument("path", metavar="FILE")
@_entry_options
def file(*, entry: Entry, connection: Connection, path: str) -> int:
    """Take over from any consumer, with positions in a JSON or CSV file.

    FILE has one row per shard with the fields shard and sequenceNumber: the last record that was
    read. Optional fields: stream, subSequenceNumber, timestamp, and position, which is
    AFTER_SEQUENCE_NUMBER (default), AT_SEQUENCE_NUMBER, AT_TIMESTAMP, TRIM_HORIZON, LATEST or
    SHARD_END. The command cannot see whether the other consumer still runs.

    \b
    Example:
      spark-kinesis migrate file positions.csv --stream orders --checkpoint s3://bucket/orders-v2
    """
    found = read_positions(path, entry.stream, entry.at)
    streams = [StreamStops(stream=it, stops=stops) for it, stops in found.items()]
    return _take_over(streams, entry, connection, lambda: None)


_METADATA = click.option(
    "--metadata", "metadata", metavar="PATH", help="the query's option for the metadata path"
)
_FROM_SOURCE = click.option(
    "--from-source", type=SOURCE, default="0", show_default=True, help="its source, as --source"
)


@migrate.command("awslabs", epilog=_EXIT_CODES)
@click.argument("old", metavar="CHECKPOINT")
@_METADATA
@click.option(
    "--dynamodb-table", metavar="TABLE", help="the query's table, if its metadata is in DynamoDB"
)
@_DYNAMODB_ENDPOINT
@_FROM_SOURCE
@_entry_options
def awslabs(
    *,
    entry: Entry,
    connection: Connection,
    old: str,
    metadata: str | None,
    dynamodb_table: str | None,
    dynamodb_endpoint: str | None,
    from_source: str,
) -> int:
    """Take over from awslabs' spark-sql-kinesis-connector.

    CHECKPOINT is the checkpoint location of the old query, which stays as it is. The new query
    begins after the newest completed micro-batch. Calls with --dynamodb-table: Query of the table.

    \b
    Example:
      spark-kinesis migrate awslabs s3://bucket/old --checkpoint s3://bucket/orders-v2
    """
    ends = None
    if dynamodb_table is not None:
        client = connection.service("dynamodb", dynamodb_endpoint)
        ends = ends_in_dynamodb(client, dynamodb_table)
    elif metadata is not None:
        ends = ends_in_files(connection.files(metadata), AWSLABS)
    return _from_spark(entry, connection, old, from_source, AWSLABS, ends)


@migrate.command("qubole", epilog=_EXIT_CODES)
@click.argument("old", metavar="CHECKPOINT")
@_METADATA
@_FROM_SOURCE
@_entry_options
def qubole(
    *, entry: Entry, connection: Connection, old: str, metadata: str | None, from_source: str
) -> int:
    """Take over from Qubole's kinesis-sql.

    CHECKPOINT is the checkpoint location of the old query, which stays as it is. The new query
    begins after the newest completed micro-batch.

    \b
    Example:
      spark-kinesis migrate qubole s3://bucket/old --checkpoint s3://bucket/orders-v2
    """
    ends = None if metadata is None else ends_in_files(connection.files(metadata), QUBOLE)
    return _from_spark(entry, connection, old, from_source, QUBOLE, ends)


def _from_spark(  # noqa: PLR0917 the arguments of its two callers
    entry: Entry, connection: Connection, old: str, source: str, folder: str, ends: Ends | None
) -> int:
    checkpoint = connection.checkpoint(old)
    before = checkpoint.state()
    ends = ends or ends_in_files(checkpoint.files, f"sources/{source}/{folder}")
    found = read_stops(checkpoint, source, ends)
    if entry.stream is not None:
        found = replace(found, stream=entry.stream)

    def watch() -> None:
        watch_query(checkpoint, before, entry.watch)

    return _take_over([found], entry, connection, watch)


def _take_over(
    streams: Sequence[StreamStops], entry: Entry, connection: Connection, watch: Callable[[], None]
) -> int:
    with progress("reading") as advance:

        def approve(plan: TakeOver) -> bool:
            advance.stop()
            show_plan(plan.lines, as_json=entry.as_json)
            for text in plan.losses:
                to_stderr(text)
            is_lost = bool(plan.losses) and not entry.allow_loss
            if is_lost and not entry.dry_run:
                to_stderr(f"No checkpoint was written. {_ALLOW}")
            if entry.dry_run or is_lost:
                return False
            agree(_TAKE_OVER, plan.files, is_agreed=entry.is_agreed)
            return True

        done = take_over(
            [it.with_latest_at(entry.at) for it in streams],
            connection.files(entry.location),
            kinesis=connection.kinesis(),
            source=entry.source,
            others=entry.others,
            allow_data_loss=entry.allow_loss,
            approve=approve,
            watch=watch,
            advance=advance,
        )
    place = done.files.location
    if done.is_written:
        to_stderr(
            f"Written: {place}. Start the query with this checkpoint location. The other consumer "
            f"has kept its positions: to undo it, delete {place}."
        )
    if entry.as_json:
        streams_ = [it.document for it in done.streams]
        print_json({"checkpoint": place, "isWritten": done.is_written, "streams": streams_})
    return LOSS if done.losses and not entry.allow_loss else 0


@migrate.command("to-kcl")
@click.argument("table", metavar="TABLE")
@click.option("--checkpoint", "location", required=True, metavar="PATH", help="folder or URL")
@click.option("--stream", help="name or ARN of the only stream to hand back (default: all)")
@click.option(
    "--source", type=SOURCE, help="number or name of the source, if several are of Kinesis"
)
@click.option("--create-table", "is_new", is_flag=True, help="create the table")
@click.option(
    "--backup",
    type=click.Path(path_type=Path, dir_okay=False),
    help="new file for the leases as they are (default: TABLE-leases-TIME.jsonl)",
)
@_DYNAMODB_ENDPOINT
@_CAPACITY
@click.option(
    "--allow-data-loss",
    "allow_loss",
    is_flag=True,
    help="write the leases although unread records have expired",
)
@watch_option
@yes_option
@click.option("--dry-run", is_flag=True, help="only show the leases")
@json_option
@storage_option
@connection_options
def to_kcl(
    *,
    connection: Connection,
    table: str,
    location: str,
    stream: str | None,
    source: str | None,
    is_new: bool,
    backup: Path | None,
    dynamodb_endpoint: str | None,
    capacity: float,
    allow_loss: bool,
    watch: float,
    is_agreed: bool,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Hand the positions of a query back to the Kinesis Client Library.

    Stop the query first. The application continues after the newest completed micro-batch. TABLE
    is its lease table. The command is refused while the query runs, and while an application
    changes the table: a running one does so every few seconds. Choose a --watch that is longer than
    its failover time. The old leases go to the file in --backup.

    If a micro-batch was planned and not completed, a sink may have written it. The application
    reads its records again.

    Calls: Scan, PutItem and UpdateItem of the table, with --create-table also CreateTable and
    DescribeTable; DescribeStreamSummary, ListShards, GetShardIterator and GetRecords.

    If unread records have expired, or may have, no lease is written, unless you set
    --allow-data-loss.

    Exit codes: 0 success; 1 unread records have expired or may have, or a no to the question; 2 an
    error.

    \b
    Example:
      spark-kinesis migrate to-kcl orders-app --checkpoint s3://bucket/checkpoints/orders
    """
    kept = backup or Path(f"{table}-leases-{utc_now():%Y%m%dT%H%M%SZ}.jsonl")
    approved: HandOver | None = None

    def approve(plan: HandOver) -> bool:
        nonlocal approved
        show_plan(plan.lines, as_json=as_json)
        for text in plan.losses:
            to_stderr(text)
        if plan.planned:
            to_stderr(
                f"The micro-batch {plan.planned[0]} was planned and not completed. A sink may have "
                "written it, and the application reads its records again."
            )
        if plan.losses and not allow_loss:
            to_stderr(f"No lease was written. {_ALLOW}")
            return False
        if not dry_run:
            agree(_HAND_BACK, is_agreed=is_agreed)
            approved = replace(plan, kept=None if is_new else kept)
        return not dry_run

    try:
        done = hand_back(
            connection.checkpoint(location),
            table,
            kinesis=connection.kinesis(),
            dynamodb=connection.service("dynamodb", dynamodb_endpoint),
            backup=kept,
            source=source,
            stream=stream,
            is_new=is_new,
            capacity=capacity,
            watch=watch,
            allow_data_loss=allow_loss,
            approve=approve,
        )
    except KeyboardInterrupt:
        if approved is not None:
            to_stderr(approved.part)
        raise
    if as_json:
        document = {
            "table": table,
            "isWritten": done.is_written,
            "keptAside": None if done.kept is None else str(done.kept),
            "plannedBatches": done.planned,
            "streams": [it.document for it in done.streams],
        }
        print_json(document)
    elif done.is_written:
        screen().print(f"Written to table {table}. To undo it: {done.undo}.")
    else:
        screen().print("Nothing was changed.")
    return LOSS if done.losses and not allow_loss else 0
