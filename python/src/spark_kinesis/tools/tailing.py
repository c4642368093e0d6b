"""Shows the records of a stream as they arrive. Reads slowly, and changes nothing."""

from __future__ import annotations

import base64
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from spark_kinesis._boto import aws_errors, code_of
from spark_kinesis._errors import SparkKinesisError
from spark_kinesis._offsets import Progress, ShardOffset, short_id
from spark_kinesis._times import utc_now
from spark_kinesis.tools.changes import LATEST, POSITION, read_target
from spark_kinesis.tools.facts.aggregates import parse
from spark_kinesis.tools.facts.records import THROTTLED, iterator_request, pause_after
from spark_kinesis.tools.facts.streams import describe, full_id, list_shards

from .cli import FORMS, Connection, connection_options, json_option, print_json, to_stderr

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient

    from spark_kinesis.tools.facts.streams import StreamShard

__all__ = ["Row", "tail"]

SHARE = 1 / 5  # of the read quota of a shard
_LIMIT = 1000
_ATTEMPTS = 8
_EXPIRED = "ExpiredIteratorException"
_KEY_WIDTH, _DATA_WIDTH = 20, 200
HEADER = f"{'AGE':>8}  {'SHARD':>5}  {'SIZE':>9}  {'KEY':<{_KEY_WIDTH}}  DATA"


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """A row to show: a record, or a row of an aggregated record."""

    shard: str  # ID of the shard
    sequence: str  # sequence number
    arrived: datetime  # approximate arrival time
    key: str | None  # partition key; ``None`` with the record distribution AUTO
    data: bytes
    sub: int | None = None  # number of the row in an aggregated record, from 0; otherwise ``None``


def tail(
    stream: str,
    *,
    kinesis: KinesisClient,
    start: str | ShardOffset = "latest",
    shards: Sequence[str] = (),
    follow: bool = True,
) -> Iterator[Row]:
    """The rows of a stream as they arrive, read with at most a fifth of each shard's read quota.

    Follows splits and merges: it reads a shard after its parents.

    Args:
        stream: name or ARN.
        kinesis: boto3's client of Kinesis, which makes a call again that a shard refuses.
        start: ``latest``, ``trim_horizon`` or ``earliest``, an ISO time with a zone, ``10m`` for a
            time ago, or milliseconds since 1970.
        shards: IDs or numbers of the shards to read, without their children; default: all.
        follow: whether to wait for more records when all are read.

    Raises:
        ValueError: for another start, or for a shard that cannot be read from there.
        SparkKinesisError: if a shard refuses all calls, because others use up its quota.
        botocore.exceptions.ClientError: if a call fails for another reason.
    """
    position = read_target(start) if isinstance(start, str) else start
    summary = describe(kinesis, stream)
    first = first_shards(summary.name, list_shards(kinesis, summary.arn), position, shards)
    pages = pages_of(
        kinesis, summary.arn, position, first, with_children=not shards, until_tip=not follow
    )
    return (row for shard, page in pages for record in page for row in rows_of(shard, record))


def first_shards(
    stream: str, shards: Sequence[StreamShard], start: ShardOffset, chosen: Sequence[str]
) -> list[str]:
    """The shards to begin with: the chosen ones, or those without a listed parent.

    Raises:
        ValueError: for a shard that the stream does not have, or that receives no more records.
    """
    listed = {it.id: it for it in shards}
    if not chosen and start == LATEST:
        return [it.id for it in shards if it.is_open]
    if not chosen:
        return [it.id for it in shards if not listed.keys() & set(it.parents)]
    names = [full_id(listed, it) for it in chosen]
    for name in names:
        if name not in listed:
            ids = ", ".join(listed)
            raise ValueError(f"stream {stream} has no shard {name!r}. Its shards: {ids}")
        if start == LATEST and not listed[name].is_open:
            raise ValueError(
                f"shard {name} of stream {stream} is closed and receives no more records. Set "
                "--from to see its records, or choose its children"
            )
    return names


@dataclass(kw_only=True, slots=True)
class _Cursor:
    """How far a shard has been read."""

    shard: str  # its ID
    due: float  # when the next call may be made, in seconds
    position: ShardOffset
    iterator: str | None = None  # ``None`` before the first call, and after it has expired
    is_at_tip: bool = False  # whether the last page had all records


def pages_of(
    client: KinesisClient,
    arn: str,
    start: ShardOffset,
    first: Sequence[str],
    *,
    with_children: bool = True,
    until_tip: bool = False,
    now: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[tuple[str, Sequence[Any]]]:
    """Each page of some shards with the ID of its shard, until no shard is left.

    ``with_children`` also reads the children of a shard, after all their parents. ``until_tip``
    ends when all records are read, instead of waiting for more.
    """
    cursors = [_Cursor(shard=shard, due=now(), position=start) for shard in first]
    ended: set[str] = set()
    waiting: dict[str, set[str]] = {}  # the parents of each child
    while cursors and not (until_tip and all(it.is_at_tip for it in cursors)):
        cursor = min(cursors, key=lambda it: (until_tip and it.is_at_tip, it.due))
        if (wait := cursor.due - now()) > 0:
            sleep(wait)
        answer = _call(client, arn, cursor)
        if answer is None:
            continue
        records = answer["Records"]
        yield cursor.shard, records
        if records:
            last = int(records[-1]["SequenceNumber"])
            cursor.position = ShardOffset(progress=Progress.AFTER, sequence_number=last)
        cursor.iterator = answer.get("NextShardIterator")
        cursor.is_at_tip = not answer.get("MillisBehindLatest", 0)
        cursor.due = now() + pause_after(records, SHARE)
        if cursor.iterator is not None:
            continue
        cursors.remove(cursor)
        ended.add(cursor.shard)
        if with_children:
            # Both parents of a merge announce its child.
            children = answer.get("ChildShards", ())
            waiting |= {it["ShardId"]: set(it["ParentShards"]) for it in children}
        # All records of a child are later than those of its parents.
        begin = ShardOffset(progress=Progress.TRIM_HORIZON) if start == LATEST else start
        for child in [it for it, parents in waiting.items() if parents <= ended]:
            del waiting[child]
            cursors.append(_Cursor(shard=child, due=now(), position=begin))


def _call(client: KinesisClient, arn: str, cursor: _Cursor) -> Any | None:
    """The next page; ``None`` if the iterator has expired, and must be asked for again."""
    is_latest = cursor.position == LATEST
    try:
        if cursor.iterator is None:
            place: Any = (
                {"ShardIteratorType": "LATEST"} if is_latest else iterator_request(cursor.position)
            )
            found = client.get_shard_iterator(StreamARN=arn, ShardId=cursor.shard, **place)
            cursor.iterator = found["ShardIterator"]
        return client.get_records(ShardIterator=cursor.iterator, Limit=_LIMIT, StreamARN=arn)
    except aws_errors() as error:
        code = code_of(error)
        if code == THROTTLED:
            raise SparkKinesisError(
                f"shard {cursor.shard} of {arn} refused all reads: other readers use up its quota "
                "of five calls and 2 MiB per second. Read fewer shards with --shard, or stop "
                "another reader."
            ) from error
        if code != _EXPIRED or is_latest:
            raise  # after a new LATEST, records that came meanwhile would be missing
        cursor.iterator = None
        return None


def rows_of(shard: str, record: Any) -> Iterator[Row]:
    """The rows of a record of boto3. An exactly-once query's marker has none."""
    place: dict[str, Any] = {
        "shard": shard,
        "sequence": record["SequenceNumber"],
        "arrived": record["ApproximateArrivalTimestamp"],
    }
    found = parse(record["Data"])
    if found is None:
        yield Row(**place, key=record.get("PartitionKey"), data=record["Data"])
        return
    for sub, it in enumerate(found.rows):
        yield Row(**place, key=it.key, data=it.data, sub=sub)


def line(row: Row, now: datetime) -> str:
    """A row for people. Now gives its age."""
    age = max(0.0, (now - row.arrived).total_seconds())
    size, unit = next(it for it in ((3600, "h"), (60, "m"), (0, "s")) if age >= it[0])
    parts = (
        f"{age / (size or 1):.1f}{unit}".rjust(8),
        f"{short_id(row.shard):>5}",
        f"{len(row.data):>7} B",
        f"{cut('-' if row.key is None else row.key, _KEY_WIDTH):<{_KEY_WIDTH}}",
        shown(row.data),
    )
    return "  ".join(parts).rstrip()


def shown(data: bytes) -> str:
    """Data as text, or in hexadecimal if it is not UTF-8. Never a control character."""
    try:
        return cut(data.decode(), _DATA_WIDTH)
    except UnicodeDecodeError:
        return cut(f"0x{data.hex()}", _DATA_WIDTH)


def cut(text: str, width: int) -> str:
    """The beginning of a text, in printable characters: data must not steer the terminal."""
    part = text if len(text) <= width else text[: width - 3] + "..."
    return "".join(it if it.isprintable() else repr(it)[1:-1] for it in part)


@click.command("tail")
@click.option("--stream", required=True, metavar="NAME|ARN", help="stream to read")
@click.option("--shard", "shards", multiple=True, help="ID or number of a shard; repeatable")
@click.option(
    "--from",
    "start",
    type=POSITION,
    default="latest",
    show_default=True,
    help=f"latest, trim_horizon, {FORMS}",
)
@click.option("--count", type=click.IntRange(1), help="number of rows to show (default: no limit)")
@click.option("--no-follow", is_flag=True, help="end when all records are shown")
@json_option
@connection_options
def command(
    connection: Connection,
    *,
    stream: str,
    shards: tuple[str, ...],
    start: ShardOffset,
    count: int | None,
    no_follow: bool,
    as_json: bool,
) -> int:
    """Show records as they arrive: age, shard, size, key and data.

    Rows of aggregated records (KPL) are shown one by one. The command follows splits and merges: it
    reads a shard after its parents. With --shard, it reads these shards only. It uses at most a
    fifth of the read quota of a shard, and ends at Ctrl-C. --json prints a line per row.

    \b
    Calls: DescribeStreamSummary, ListShards, GetShardIterator, GetRecords.

    \b
    Examples:
      spark-kinesis tail --stream orders
      spark-kinesis tail --stream orders --shard 3 --from 10m
      spark-kinesis tail --stream orders --from trim_horizon --no-follow --json > orders.jsonl

    Exit codes: 0 success, 2 an error.
    """
    client = connection.kinesis(attempts=_ATTEMPTS)
    try:
        rows = tail(stream, kinesis=client, start=start, shards=shards, follow=not no_follow)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    if not as_json:
        to_stderr(HEADER)
    try:
        for row in islice(rows, count):
            if as_json:
                print_json({**asdict(row), "data": base64.b64encode(row.data).decode()})
            else:
                click.echo(line(row, utc_now()))
    except KeyboardInterrupt:
        pass  # the normal end
    return 0
