"""The command ``spark-kinesis rewind``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from spark_kinesis._offsets import stream_names
from spark_kinesis.tools.changes import agree, progress, show_plan, watch_option, yes_option
from spark_kinesis.tools.cli import (
    SOURCE,
    Connection,
    connection_options,
    json_option,
    print_json,
    screen,
    storage_option,
    to_stderr,
)

from . import Effect, Rewind, Target
from . import rewind as move_query

REFUSED = 1
_OLDER = "Records that are older than the retention period of the stream cannot come again."
_QUESTION = "Is the query stopped, and shall its next start continue there?"
_STOP = (
    "Stop the query first. A query that waits for records looks as if it were stopped. If it still "
    "runs, its next micro-batch fails, and the move stays. If it is in the middle of a micro-batch "
    "that --drop-planned drops, it undoes the move when that one is done."
)
_STOP_BEFORE_FIRST = (
    "Stop the query first. It has completed no micro-batch yet: if it still runs, its first one "
    "undoes the move."
)


class _Target(click.ParamType):  # type: ignore[type-arg] # not generic before click 8.4
    name = "position"

    def convert(self, value: Any, param: Any, ctx: Any) -> Target:
        try:
            return value if isinstance(value, Target) else Target.of(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


@click.command("rewind")
@click.option("--checkpoint", "location", required=True, metavar="PATH", help="folder or URL")
@click.option(
    "--to",
    "target",
    type=_Target(),
    required=True,
    metavar="TIME|trim_horizon|latest|at:NUMBER|after:NUMBER",
    help="where the query continues",
)
@click.option("--stream", help="name or ARN of the only stream to move (default: all)")
@click.option(
    "--shard",
    "shards",
    multiple=True,
    help="ID of a shard to move, or its number: 3 (default: all)",
)
@click.option(
    "--source", type=SOURCE, help="number or name of the source, if several are of Kinesis"
)
@click.option(
    "--keep",
    type=SOURCE,
    multiple=True,
    help="number or name of another source, which continues where it is; required for each other "
    "source of the query",
)
@click.option(
    "--drop-planned",
    is_flag=True,
    help="forget micro-batches that are not completed; their rows that a sink has written already "
    "may come again",
)
@click.option(
    "--allow-data-loss",
    "allow_loss",
    is_flag=True,
    help="move although records have expired that the query has not read or would read again",
)
@click.option(
    "--allow-unproven", is_flag=True, help="move although what is skipped or comes again is unknown"
)
@watch_option
@yes_option
@click.option("--dry-run", is_flag=True, help="only show what would be skipped or come again")
@json_option
@storage_option
@connection_options
def rewind(
    *,
    connection: Connection,
    location: str,
    target: Target,
    stream: str | None,
    shards: tuple[str, ...],
    source: str | None,
    keep: tuple[str, ...],
    drop_planned: bool,
    allow_loss: bool,
    allow_unproven: bool,
    watch: float,
    is_agreed: bool,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Move a stopped query to another position: its next start continues there.

    Stop the query first. The command shows what would be skipped or come again, watches whether the
    query runs, asks, and rewrites the position of the source in the checkpoint. The query keeps its
    ID and the numbers of its micro-batches. The old files and a note go to the folder `rewinds` of
    the checkpoint.

    A query that keeps state is refused. The descendants of a shard move with it.

    Calls: DescribeStreamSummary, ListShards, GetShardIterator and GetRecords.

    Records are lost if they expired before the query read them, or if they lie after the position
    in --to and have expired. If records are lost, or if a search ended before it found a record,
    nothing is changed, unless you set --allow-data-loss or --allow-unproven.

    Exit codes: 0 success; 1 records are lost, a search ended before it found a record, or a no to
    the question; 2 an
    error.

    \b
    Examples:
      spark-kinesis rewind --checkpoint /checkpoints/orders --to 2026-11-20T00:00Z --dry-run
      spark-kinesis rewind --checkpoint /checkpoints/orders --to latest
      spark-kinesis rewind --checkpoint /checkpoints/orders --shard shardId-000000000003 \\
        --to after:49659048151843208164834873923474529478262450846735958018
    """
    with progress("reading") as advance:

        def approve(plan: Rewind) -> bool:
            advance.stop()
            show_plan(_lines(plan), as_json=as_json)
            if dry_run or plan.refusals:
                return False
            to_stderr(_STOP if plan.position.batch is not None else _STOP_BEFORE_FIRST)
            agree(_QUESTION, plan.checkpoint.files, is_agreed=is_agreed)
            return True

        done = move_query(
            connection.checkpoint(location),
            target,
            kinesis=connection.kinesis(),
            stream=stream,
            shards=shards,
            source=source,
            keep=keep,
            drop_planned=drop_planned,
            allow_data_loss=allow_loss,
            allow_unproven=allow_unproven,
            watch=watch,
            approve=approve,
            advance=advance,
        )
    place = done.checkpoint.location
    if as_json:
        print_json({"checkpoint": place, "keptAside": done.kept, **done.document})
    elif done.kept is None:
        screen().print("Nothing was changed.")
    else:
        screen().print(f"The query continues there at its next start. Kept: {place}/{done.kept}")
        screen().print(f"To undo it: {done.undo}.")
    for text in done.refusals:
        to_stderr(text)
    return REFUSED if done.refusals else 0


def _lines(plan: Rewind) -> Iterator[str]:
    names = stream_names(plan.move.changes)
    for arn, changes in plan.move.changes.items():
        for change in changes:
            yield f"{names[arn]} {change.shard}: {change.words}"
    if any(it.effect is Effect.AGAIN for it in plan.move.all_changes):
        yield _OLDER
