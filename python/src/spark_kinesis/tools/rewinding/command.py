"""The command ``spark-kinesis rewind``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from spark_kinesis.tools.changes import POSITION, Consent, change_options
from spark_kinesis.tools.cli import SOURCE, Connection, to_stderr

from . import Rewind
from . import rewind as move_query

if TYPE_CHECKING:
    from spark_kinesis._offsets import ShardOffset

_QUESTION = "Is the query stopped, and shall its next start continue there?"
_STOP = (
    "Stop the query first. A query that waits for records looks as if it were stopped. If it still "
    "runs, its next micro-batch fails, and the move stays. If it is in the middle of a micro-batch "
    "that --drop-planned drops, it undoes the move when that one is done."
)


@click.command("rewind")
@click.option("--checkpoint", "location", required=True, metavar="PATH", help="folder or URL")
@click.option(
    "--to",
    "target",
    type=POSITION,
    required=True,
    metavar="TIME|trim_horizon|latest",
    help="where the query continues",
)
@click.option("--stream", metavar="NAME|ARN", help="the only stream to move (default: all)")
@click.option(
    "--source", type=SOURCE, help="number or name of the source, if several are of Kinesis"
)
@click.option(
    "--drop-planned",
    is_flag=True,
    help="forget micro-batches that are not completed; their rows that a sink has written already "
    "may come again",
)
@change_options
def rewind(
    *,
    consent: Consent,
    connection: Connection,
    location: str,
    target: ShardOffset,
    stream: str | None,
    source: str | None,
    drop_planned: bool,
) -> int:
    """Move a stopped query to another position: its next start continues there.

    Stop the query first. The command shows the old and the new position of each shard, watches
    whether the query runs, asks, and rewrites the position of the source in the checkpoint. The
    query keeps its ID, and the IDs of its micro-batches continue to rise. The old files and the
    plan go to the folder `rewinds` of the checkpoint.

    A query that keeps state is refused. Records that are older than the retention period of the
    stream cannot come again.

    Calls: DescribeStreamSummary and ListShards.

    Records are lost if they expired before the query read them, or if they lie after the position
    in --to and have expired. Then nothing is changed, unless you set --allow-data-loss.

    Exit codes: 0 success; 1 records are lost, or a no to the question; 2 an error.

    \b
    Examples:
      spark-kinesis rewind --checkpoint /checkpoints/orders --to 2026-11-20T00:00Z --dry-run
      spark-kinesis rewind --checkpoint /checkpoints/orders --to latest
    """

    def approve(plan: Rewind) -> bool:
        to_stderr(_STOP)
        return consent.to(plan, _QUESTION, plan.checkpoint.files)

    done = move_query(
        connection.checkpoint(location),
        target,
        kinesis=connection.kinesis(),
        stream=stream,
        source=source,
        drop_planned=drop_planned,
        allow_data_loss=consent.allow_loss,
        watch=consent.watch,
        approve=approve,
    )
    kept = f"{done.checkpoint.location}/{done.kept}"
    return consent.end(done, f"The query continues there at its next start. Kept: {kept}.")
