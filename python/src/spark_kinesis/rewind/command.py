"""The command ``spark-kinesis rewind``."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

import click

from spark_kinesis._times import instant, utc_now
from spark_kinesis.checkpoint import Progress, chosen_streams
from spark_kinesis.checkpoint.offset import stream_name
from spark_kinesis.tools.cli import (
    FORMS,
    SOURCE,
    Connection,
    connection_options,
    print_json,
    progress_bar,
    read_time,
    screen,
    to_stderr,
)

from .effects import Effect
from .log import LogPosition, read_position, rewrite
from .move import Move, move, shown
from .plan import Target
from .words import refusals, words

REFUSED = 1


_FORMS = f"{FORMS}, trim_horizon, latest, at:NUMBER or after:NUMBER"


class _Target(click.ParamType):  # type: ignore[type-arg] # not generic before click 8.4
    name = "position"

    def convert(self, value: Any, param: Any, ctx: Any) -> Target:
        if isinstance(value, Target):
            return value
        text = str(value).strip().lower()
        record = re.fullmatch(r"(at|after):(\d+)", text)
        if record:
            progress = Progress.FROM if record[1] == "at" else Progress.AFTER
            return Target(progress=progress, sequence_number=int(record[2]))
        if text == "trim_horizon":
            return Target(progress=Progress.TRIM_HORIZON)
        if text == "latest":
            return Target(progress=Progress.AT)
        try:
            return Target(progress=Progress.AT, time=read_time(str(value), utc_now()))
        except ValueError:
            self.fail(f"{str(value)!r} is not {_FORMS}", param, ctx)


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
    help="forget micro-batches that are not completed; a sink that has already written one of them "
    "ignores the next micro-batch with the same number",
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
@click.option("--dry-run", is_flag=True, help="only show what would be skipped or come again")
@click.option("--json", "as_json", is_flag=True, help="print one JSON document")
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
    dry_run: bool,
    as_json: bool,
) -> int:
    """Move a stopped query to another position: its next start continues there.

    Stop the query first. The command rewrites the position of the source in the checkpoint. The
    query keeps its ID and the numbers of its micro-batches. The old files and a note go to the
    folder `rewinds` of the checkpoint. The note says per shard what is skipped or comes again.

    A query that keeps state is refused. The descendants of a shard move with it.
    Calls: DescribeStreamSummary, ListShards, GetShardIterator and GetRecords.

    Records are lost if they expired before the query read them, or if they lie after the position
    in --to and have expired. If records are lost, or if a search ended before it found a record,
    nothing is changed, unless you set --allow-data-loss or --allow-unproven.

    Exit codes: 0 success; 1 records are lost, or a search ended before it found a record; 2 an
    error.

    \b
    Examples:
      spark-kinesis rewind --checkpoint /checkpoints/orders --to 2026-11-20T00:00Z --dry-run
      spark-kinesis rewind --checkpoint /checkpoints/orders --to latest
      spark-kinesis rewind --checkpoint /checkpoints/orders --shard shardId-000000000003 \\
        --to after:49659048151843208164834873923474529478262450846735958018
    """
    to_stderr(_FIRST)
    checkpoint = connection.checkpoint(location)
    location = checkpoint.location  # without keys, for people
    position = read_position(checkpoint, source, keep, drop_planned=drop_planned)
    arns = chosen_streams(position.offset, stream)
    with progress_bar() as bar:
        task = bar.add_task("reading", total=len(arns))
        moved = move(
            connection.kinesis(),
            position.offset,
            target,
            arns=arns,
            shards=shards,
            on_stream=lambda: bar.advance(task),
        )
    now = utc_now()
    note = _note(now, target, position, moved)
    refused = refusals(moved, allow_loss=allow_loss, allow_unproven=allow_unproven)
    is_kept = dry_run or bool(refused)
    folder = None if is_kept else rewrite(checkpoint, position, moved.offset, note, now)
    if as_json:
        print_json({"checkpoint": location, "keptAside": folder, **note})
    else:
        _print(moved, location, folder)
    for text in refused:
        to_stderr(text)
    return REFUSED if refused else 0


_FIRST = "Stop the query first. The command does not notice a query that waits for records."
_OLDER = "Records that are older than the retention period of the stream cannot come again."


def _note(now: datetime, target: Target, position: LogPosition, moved: Move) -> dict[str, Any]:
    return {
        "at": instant(now),
        "to": target.text,
        "source": position.source,
        "afterBatch": position.batch,
        "droppedBatches": list(position.planned),
        "streams": {arn: shown(changes) for arn, changes in moved.changes.items()},
    }


def _print(moved: Move, location: str, folder: str | None) -> None:
    for arn, changes in moved.changes.items():
        for change in changes:
            screen().print(f"{stream_name(arn)} {change.shard}: {words(change)}")
    if any(it.effect is Effect.AGAIN for it in moved.all_changes):
        screen().print(_OLDER)
    if folder is None:
        screen().print("Nothing was changed.")
    else:
        screen().print(f"The query continues there at its next start. Kept: {location}/{folder}")
