"""The commands of ``spark-kinesis migrate``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from spark_kinesis._boto import is_aws
from spark_kinesis._times import utc_now
from spark_kinesis.tools.changes import (
    POSITION,
    Consent,
    change_options,
    watch_query,
    watched,
)
from spark_kinesis.tools.cli import SOURCE, Connection
from spark_kinesis.tools.facts.files import shown

from .handing_back import hand_back
from .leases import kcl_stops, require_stopped, scan_leases
from .positions import Stops, ends_in_dynamodb, ends_in_files, read_stops
from .takeover import take_over

if TYPE_CHECKING:
    from spark_kinesis._offsets import ShardOffset

Result = TypeVar("Result")
_EXAMPLES = """\b
Examples:
  spark-kinesis migrate kcl orders-app --stream orders --checkpoint s3://bucket/orders-v2
  spark-kinesis migrate to-kcl orders-app --checkpoint s3://bucket/orders-v2"""
_EXIT_CODES = "Exit codes: 0 success; 1 records are lost, or a no to the question; 2 an error."
_TAKE_OVER = "Is the other consumer stopped, and shall the new checkpoint be written?"
_HAND_BACK = "Are the query and the application stopped, and shall the leases be written?"


@click.group("migrate", epilog=_EXAMPLES)
def migrate() -> None:
    """Continue in a new query where another consumer stopped, or hand positions back to the KCL.

    Stop the other consumer first. Each subcommand except `to-kcl` reads the positions of the other
    consumer and the records around them, shows what the new query will read first, asks, and writes
    a checkpoint of this connector. Start the query with that checkpoint, and with the same streams.

    If records are lost between the two consumers, no checkpoint is written, unless you set
    --allow-data-loss.

    Exit codes: 0 success; 1 records are lost, or a no to the question; 2 an error.
    """


_ENTRY_OPTIONS = (
    click.option(
        "--checkpoint", "location", required=True, metavar="NEW", help="new folder or URL"
    ),
    click.option(
        "--source",
        type=SOURCE,
        default="0",
        show_default=True,
        help="number of the source in the new query, or its name if the query names its sources",
    ),
    click.option(
        "--stream",
        metavar="NAME|ARN",
        help="stream of the positions, if they do not name it, or the only one of several to take "
        "over",
    ),
    click.option(
        "--begin",
        type=POSITION,
        metavar="TIME|trim_horizon|latest",
        help="where to begin in shards whose positions do not say which records were read",
    ),
)


def _entry_options(command: Callable[..., Result]) -> Callable[..., Result]:
    """Add the options of all ways into a new checkpoint."""
    command = change_options(command)
    for add in reversed(_ENTRY_OPTIONS):
        command = add(command)
    return command


_DYNAMODB_ENDPOINT = click.option(
    "--dynamodb-endpoint",
    metavar="URL",
    help="URL of DynamoDB (default: AWS; required if --endpoint is not that of AWS)",
)


def _dynamodb(connection: Connection, endpoint: str | None) -> Any:
    """A client of DynamoDB. It never goes to AWS for a Kinesis that is elsewhere."""
    if endpoint is None and not is_aws(connection.endpoint):
        raise click.UsageError(
            f"--endpoint {shown(connection.endpoint or '')} is not that of AWS: name the DynamoDB "
            "next to it with --dynamodb-endpoint"
        )
    return connection.service("dynamodb", endpoint)


@migrate.command("kcl", epilog=_EXIT_CODES)
@click.argument("table", metavar="TABLE")
@_DYNAMODB_ENDPOINT
@_entry_options
def kcl(
    *,
    consent: Consent,
    connection: Connection,
    table: str,
    dynamodb_endpoint: str | None,
    stream: str | None,
    **entry: Any,
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
    dynamodb = _dynamodb(connection, dynamodb_endpoint)
    leases = scan_leases(dynamodb, table)

    def watch() -> None:
        after = watched(lambda: scan_leases(dynamodb, table), consent.watch)
        require_stopped(table, leases, after)

    stops = kcl_stops(leases, table, connection.kinesis(), stream)
    return _take_over(stops, consent, connection, watch, **entry)


@migrate.command("awslabs", epilog=_EXIT_CODES)
@click.argument("old", metavar="CHECKPOINT")
@click.option(
    "--from-source",
    type=SOURCE,
    help="number or name of the source in the old query, if that has several",
)
@click.option("--metadata", metavar="PATH", help="the query's option for the metadata path")
@click.option(
    "--dynamodb-table", metavar="TABLE", help="the query's table, if its metadata is in DynamoDB"
)
@_DYNAMODB_ENDPOINT
@_entry_options
def awslabs(
    *,
    consent: Consent,
    connection: Connection,
    old: str,
    from_source: str | None,
    metadata: str | None,
    dynamodb_table: str | None,
    dynamodb_endpoint: str | None,
    stream: str | None,
    **entry: Any,
) -> int:
    """Take over from awslabs' spark-sql-kinesis-connector, or from Qubole's kinesis-sql.

    CHECKPOINT is the checkpoint location of the old query, which stays as it is. The new query
    begins after the newest completed micro-batch. Calls with --dynamodb-table: Query of the table.

    \b
    Example:
      spark-kinesis migrate awslabs s3://bucket/old --checkpoint s3://bucket/orders-v2
    """
    checkpoint = connection.checkpoint(old)
    before = checkpoint.state()
    ends = None
    if dynamodb_table is not None:
        ends = ends_in_dynamodb(_dynamodb(connection, dynamodb_endpoint), dynamodb_table)
    elif metadata is not None:
        ends = ends_in_files(connection.files(metadata))
    stops = read_stops(checkpoint, from_source, ends)
    if stream is not None:
        (found,) = stops.values()
        stops = {stream: found}

    def watch() -> None:
        watch_query(checkpoint, before, consent.watch)

    return _take_over(stops, consent, connection, watch, **entry)


def _take_over(
    stops: Stops,
    consent: Consent,
    connection: Connection,
    watch: Callable[[], None],
    *,
    location: str,
    source: str,
    begin: ShardOffset | None,
) -> int:
    done = take_over(
        stops,
        connection.files(location),
        kinesis=connection.kinesis(),
        source=source,
        begin=begin,
        allow_data_loss=consent.allow_loss,
        approve=lambda plan: consent.to(plan, _TAKE_OVER, plan.files),
        watch=watch,
    )
    place = done.files.location
    said = f"Written: {place}. Start the query with this checkpoint location."
    return consent.end(done, said)


@migrate.command("to-kcl")
@click.argument("table", metavar="TABLE")
@click.option("--checkpoint", "location", required=True, metavar="PATH", help="folder or URL")
@click.option("--stream", metavar="NAME|ARN", help="the only stream to hand back (default: all)")
@click.option(
    "--source", type=SOURCE, help="number or name of the source, if several are of Kinesis"
)
@click.option(
    "--backup",
    type=click.Path(path_type=Path, dir_okay=False),
    help="new file for the leases as they are (default: TABLE-leases-TIME.jsonl)",
)
@_DYNAMODB_ENDPOINT
@change_options
def to_kcl(
    *,
    consent: Consent,
    connection: Connection,
    table: str,
    location: str,
    stream: str | None,
    source: str | None,
    backup: Path | None,
    dynamodb_endpoint: str | None,
) -> int:
    """Hand the positions of a query back to the Kinesis Client Library.

    Stop the query first. The application continues after the newest completed micro-batch. TABLE
    is its lease table. The command is refused while the query runs, and while an application
    changes the table: a running one does so every few seconds. Choose a --watch that is longer than
    its failover time. The old leases go to the file in --backup.

    If a micro-batch was planned and not completed, a sink may have written it. The application
    reads its records again.

    Calls: Scan, PutItem and UpdateItem of the table; DescribeStreamSummary, ListShards,
    GetShardIterator and GetRecords.

    If unread records have expired, or may have, no lease is written, unless you set
    --allow-data-loss.

    Exit codes: 0 success; 1 records are lost, or a no to the question; 2 an error.

    \b
    Example:
      spark-kinesis migrate to-kcl orders-app --checkpoint s3://bucket/checkpoints/orders
    """
    dynamodb = _dynamodb(connection, dynamodb_endpoint)
    done = hand_back(
        connection.checkpoint(location),
        table,
        kinesis=connection.kinesis(),
        dynamodb=dynamodb,
        backup=backup or Path(f"{table}-leases-{utc_now():%Y%m%dT%H%M%SZ}.jsonl"),
        source=source,
        stream=stream,
        watch=consent.watch,
        allow_data_loss=consent.allow_loss,
        approve=lambda plan: consent.to(plan, _HAND_BACK),
    )
    return consent.end(done, f"Written to table {table}. Kept: {done.kept}.")
