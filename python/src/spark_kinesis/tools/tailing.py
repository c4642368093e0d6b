"""Shows the records of a stream as they arrive. Reads slowly, and changes nothing.

The function is ``tail``, and the command ``spark-kinesis tail``.
"""

from __future__ import annotations

import base64
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from spark_kinesis._boto import aws_errors, code_of
from spark_kinesis._errors import SparkKinesisError
from spark_kinesis._offsets import short_id
from spark_kinesis._times import utc_now
from spark_kinesis.tools.facts.aggregates import maker, parse
from spark_kinesis.tools.facts.records import THROTTLED, pause_after
from spark_kinesis.tools.facts.streams import describe, full_id, list_shards

from .cli import FORMS, Connection, connection_options, print_json, read_time, to_stderr

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient

    from spark_kinesis.tools.facts.streams import StreamShard

__all__ = ["Row", "tail"]

SHARE = 1 / 5  # of the read quota of a shard
_LIMIT = 1000
_ATTEMPTS = 8
_EXPIRED = "ExpiredIteratorException"
_KEY_WIDTH = 20
HEADER = f"{'AGE':>8}  {'SHARD':>5}  {'SIZE':>9}  {'KEY':<{_KEY_WIDTH}}  DATA"


def tail(
    stream: str,
    *,
    kinesis: KinesisClient,
    start: str = "latest",
    shards: Sequence[str] = (),
    raw: bool = False,
    follow: bool = True,
) -> Iterator[Row]:
    """The rows of a stream as they arrive, read with at most a fifth of each shard's read quota.

    Follows splits and merges: it reads a shard after its parents.

    Args:
        stream: name or ARN.
        kinesis: boto3's client of Kinesis, which makes a call again that a shard refuses.
        start: ``latest``, ``trim_horizon``, an ISO time with a zone, ``10m`` for a time ago, or
            milliseconds since 1970.
        shards: IDs or numbers of the shards to read; default: all.
        raw: whether an aggregated record is one row.
        follow: whether to wait for more records when all are read.

    Raises:
        ValueError: for another start, or for a shard that cannot be read from there.
        SparkKinesisError: if a shard refuses all calls, because others use up its quota.
        botocore.exceptions.ClientError: if a call fails for another reason.
    """
    position = parse_start(start, utc_now())
    summary = describe(kinesis, stream)
    first = first_shards(summary.name, list_shards(kinesis, summary.arn), position, shards)
    follower = Follower(kinesis, summary.arn, position, first, waits_for_all=not shards)
    return (
        row
        for shard, records in follower.pages(until_tip=not follow)
        for record in records
        for row in rows_of(shard, record, is_raw=raw)
    )


Start = Mapping[str, Any]
"""Where a shard begins: arguments of ``GetShardIterator``."""
LATEST: Start = {"ShardIteratorType": "LATEST"}
TRIM_HORIZON: Start = {"ShardIteratorType": "TRIM_HORIZON"}


def parse_start(text: str, now: datetime) -> Start:
    """Parse ``latest``, ``trim_horizon``, or a time.

    Args:
        text: the text.
        now: current time, with a time zone.

    Raises:
        ValueError: for another text, or a time without a zone.
    """
    named = {"latest": LATEST, "trim_horizon": TRIM_HORIZON}
    if text.lower() in named:
        return named[text.lower()]
    try:
        return {"ShardIteratorType": "AT_TIMESTAMP", "Timestamp": read_time(text, now)}
    except ValueError:
        raise ValueError(f"the start must be latest, trim_horizon, {FORMS}, not {text!r}") from None


def first_shards(
    stream: str, shards: Sequence[StreamShard], start: Start, chosen: Sequence[str]
) -> list[str]:
    """The shards to begin with. Their children follow when they end.

    Args:
        stream: name of the stream, for errors.
        shards: all shards of the stream.
        start: where reading begins.
        chosen: IDs of shards, or their numbers; none for all.

    Raises:
        ValueError: for a shard that the stream does not have, or that receives no more records.
    """
    if chosen:
        return [_chosen(stream, shards, start, it) for it in chosen]
    if start == LATEST:
        return [it.id for it in shards if it.is_open]
    listed = {it.id for it in shards}
    return [it.id for it in shards if not listed & set(it.parents)]


def _chosen(stream: str, shards: Sequence[StreamShard], start: Start, wanted: str) -> str:
    name = full_id((it.id for it in shards), wanted)
    shard = next((it for it in shards if it.id == name), None)
    if shard is None:
        ids = ", ".join(it.id for it in shards)
        raise ValueError(f"stream {stream} has no shard {wanted!r}. Its shards: {ids}")
    if start == LATEST and not shard.is_open:
        children = ", ".join(it.id for it in shards if shard.id in it.parents)
        raise ValueError(
            f"shard {shard.id} of stream {stream} is closed and receives no more records. "
            f"Choose its children ({children}), or set --from to see its records"
        )
    return shard.id


class Lineage:
    """Which shard may be read: a child after its parents.

    Args:
        first: IDs of the shards to begin with.
        waits_for_all: whether a child waits for each of its parents. Otherwise, it waits for those
            that are read or wait: a user who chose some shards does not read the others.
    """

    def __init__(self, first: Sequence[str], *, waits_for_all: bool) -> None:
        """Read the first shards."""
        self._reading = set(first)
        self._ended: set[str] = set()
        self._waiting: dict[str, frozenset[str]] = {}
        self._waits_for_all = waits_for_all

    def end(self, shard: str, children: Mapping[str, Collection[str]]) -> list[str]:
        """End a shard.

        Args:
            shard: its ID.
            children: the IDs of its children, each with those of all its parents.

        Returns:
            The IDs of the shards that can be read now.
        """
        self._reading.discard(shard)
        self._ended.add(shard)
        for child, parents in children.items():
            if child not in self._reading | self._ended:
                self._waiting[child] = frozenset(parents)
        ready = [it for it, parents in self._waiting.items() if self._is_ready(parents)]
        for it in ready:
            del self._waiting[it]
        self._reading.update(ready)
        return ready

    def _is_ready(self, parents: Collection[str]) -> bool:
        left = set(parents) - self._ended
        return not left if self._waits_for_all else not left & (self._reading | set(self._waiting))


@dataclass(kw_only=True, slots=True)
class _Cursor:
    """How far a shard has been read.

    Attributes:
        shard: ID of the shard.
        due: when the next call may be made, in seconds.
        start: where it begins.
        iterator: its iterator; ``None`` before the first call, and after the iterator has expired.
        last: sequence number of the last record.
        is_at_tip: whether the last page had all records.
    """

    shard: str
    due: float
    start: Start
    iterator: str | None = None
    last: str | None = None
    is_at_tip: bool = False


class Follower:
    """Reads shards at a bounded rate and, after their end, their children.

    Args:
        client: client of Kinesis, which makes a call again that a shard refuses.
        arn: ARN of the stream.
        start: where each shard begins.
        first: IDs of the shards to begin with.
        waits_for_all: see ``Lineage``.
        share: part of the read quota of a shard to use.
        now: returns seconds of a monotonic clock.
        sleep: waits for a number of seconds.
    """

    def __init__(
        self,
        client: KinesisClient,
        arn: str,
        start: Start,
        first: Sequence[str],
        *,
        waits_for_all: bool,
        share: float | None = None,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Call nothing yet."""
        self._client, self._arn = client, arn
        self._share = SHARE if share is None else share
        self._now, self._sleep = now, sleep
        self._lineage = Lineage(first, waits_for_all=waits_for_all)
        self._cursors = [_Cursor(shard=shard, due=now(), start=start) for shard in first]

    def pages(self, *, until_tip: bool) -> Iterator[tuple[str, Sequence[Any]]]:
        """Each page with the ID of its shard, until no shard is left.

        Args:
            until_tip: whether to end when all records are read, instead of waiting for more.

        Raises:
            SparkKinesisError: if a shard refuses all calls, because others use up its quota.
            botocore.exceptions.ClientError: if a call fails for another reason.
        """
        while self._cursors:
            if until_tip and all(it.is_at_tip for it in self._cursors):
                return
            cursor = min(self._cursors, key=lambda it: (until_tip and it.is_at_tip, it.due))
            wait = cursor.due - self._now()
            if wait > 0:
                self._sleep(wait)
            answer = self._call(cursor)
            if answer is not None:
                yield cursor.shard, answer["Records"]
                self._advance(cursor, answer)

    def _call(self, cursor: _Cursor) -> Any | None:
        """The next page; ``None`` if the iterator has expired, and must be asked for again."""
        try:
            if cursor.iterator is None:
                cursor.iterator = self._iterator(cursor)
            return self._client.get_records(
                ShardIterator=cursor.iterator, Limit=_LIMIT, StreamARN=self._arn
            )
        except aws_errors() as error:
            code = code_of(error)
            if code == THROTTLED:
                raise SparkKinesisError(
                    f"shard {cursor.shard} of {self._arn} refused all reads: other readers use up "
                    "its quota of five calls and 2 MiB per second. Read fewer shards with --shard, "
                    "or stop another reader."
                ) from error
            if code != _EXPIRED:
                raise
            if cursor.last is None and cursor.start == LATEST:
                raise SparkKinesisError(
                    f"shard {cursor.shard} of {self._arn} was not read for five minutes, before "
                    "its first record: records may have come meanwhile. Start again with --from "
                    "10m."
                ) from error
            cursor.iterator = None
            return None

    def _iterator(self, cursor: _Cursor) -> str:
        request = cursor.start
        if cursor.last is not None:
            request = {
                "ShardIteratorType": "AFTER_SEQUENCE_NUMBER",
                "StartingSequenceNumber": cursor.last,
            }
        answer = self._client.get_shard_iterator(
            StreamARN=self._arn, ShardId=cursor.shard, **request
        )
        return answer["ShardIterator"]

    def _advance(self, cursor: _Cursor, answer: Any) -> None:
        records = answer["Records"]
        if records:
            cursor.last = records[-1]["SequenceNumber"]
        cursor.iterator = answer.get("NextShardIterator")
        cursor.is_at_tip = not answer.get("MillisBehindLatest", 0)
        cursor.due = self._now() + pause_after(records, self._share)
        if cursor.iterator is None:
            self._cursors.remove(cursor)
            born = {it["ShardId"]: it["ParentShards"] for it in answer.get("ChildShards", ())}
            ready = self._lineage.end(cursor.shard, born)
            # All records of a child are later than those of its parents.
            start = TRIM_HORIZON if cursor.start == LATEST else cursor.start
            self._cursors += [_Cursor(shard=it, due=self._now(), start=start) for it in ready]


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """A row to show: a record, or a part of an aggregated record.

    Attributes:
        shard: ID of the shard.
        sequence: sequence number.
        arrived: approximate arrival time.
        key: partition key; ``None`` with the record distribution AUTO.
        hash_key: explicit hash key, which only rows of aggregated records show.
        data: data.
        sub: number of the row in its record, from 0; ``None`` for a whole record.
        rows: number of rows of the record; ``None`` for a record that is not aggregated.
        maker: program that aggregated the record.
    """

    shard: str
    sequence: str
    arrived: datetime
    key: str | None
    data: bytes
    hash_key: str | None = None
    sub: int | None = None
    rows: int | None = None
    maker: str | None = None


def rows_of(shard: str, record: Any, *, is_raw: bool) -> Iterator[Row]:
    """The rows of a record of boto3.

    Args:
        shard: ID of its shard.
        record: the record.
        is_raw: whether an aggregated record is one row.
    """
    place: dict[str, Any] = {
        "shard": shard,
        "sequence": record["SequenceNumber"],
        "arrived": record["ApproximateArrivalTimestamp"],
    }
    key, data = record.get("PartitionKey"), record["Data"]
    found = parse(data)
    if found is None:
        yield Row(**place, key=key, data=data)
        return
    by, count = maker(found, key or ""), len(found.rows)
    if is_raw or not count:
        yield Row(**place, key=key, data=data, rows=count, maker=by)
        return
    for sub, it in enumerate(found.rows):
        yield Row(
            **place,
            key=it.key,
            hash_key=it.hash_key,
            data=it.data,
            sub=sub,
            rows=count,
            maker=by,
        )


def line(row: Row, now: datetime, width: int) -> str:
    """A row for people.

    Args:
        row: the row.
        now: current time, for the age.
        width: largest number of characters of data.
    """
    number = "" if row.rows is None else f"[{row.rows} rows by {row.maker}] "
    if row.sub is not None:
        number = f"[{row.sub + 1}/{row.rows} by {row.maker}] "
    parts = (
        f"{_age((now - row.arrived).total_seconds()):>8}",
        f"{short_id(row.shard):>5}",
        f"{len(row.data):>7} B",
        f"{cut('-' if row.key is None else row.key, _KEY_WIDTH):<{_KEY_WIDTH}}",
        number + shown(row.data, width),
    )
    return "  ".join(parts).rstrip()


def as_json(row: Row) -> dict[str, Any]:
    """A row for programs."""
    return {
        "arrived": row.arrived,
        "shard": row.shard,
        "sequenceNumber": row.sequence,
        "subSequenceNumber": row.sub,
        "rows": row.rows,
        "maker": row.maker,
        "partitionKey": row.key,
        "explicitHashKey": row.hash_key,
        "bytes": len(row.data),
        "data": base64.b64encode(row.data).decode(),
        "text": _text(row.data),
    }


def shown(data: bytes, width: int) -> str:
    """Data as text, or in hexadecimal if it is not UTF-8. Never a control character."""
    text = _text(data)
    if text is not None:
        return cut(text, width)
    part = data[: max(1, width // 2)].hex()
    return f"0x{part}" + ("..." if len(part) < 2 * len(data) else "")


def cut(text: str, width: int) -> str:
    """The beginning of a text, in printable characters: data must not steer the terminal."""
    part = text if len(text) <= width else text[: max(0, width - 3)] + "..."
    return "".join(it if it.isprintable() else repr(it)[1:-1] for it in part)


def _text(data: bytes) -> str | None:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def _age(seconds: float) -> str:
    for size, unit in ((3600, "h"), (60, "m")):
        if seconds >= size:
            return f"{seconds / size:.1f}{unit}"
    return f"{max(0.0, seconds):.1f}s"


@click.command("tail")
@click.option("--stream", required=True, metavar="NAME|ARN", help="stream to read")
@click.option("--shard", "shards", multiple=True, help="ID or number of a shard; repeatable")
@click.option(
    "--from",
    "start",
    default="latest",
    show_default=True,
    help=f"latest, trim_horizon, {FORMS}",
)
@click.option("--raw", is_flag=True, help="show an aggregated record as one")
@click.option("--count", type=click.IntRange(1), help="number of rows to show (default: no limit)")
@click.option("--no-follow", is_flag=True, help="end when all records are shown")
@click.option(
    "--width",
    type=click.IntRange(4),
    default=200,
    show_default=True,
    help="characters of data per row",
)
@click.option("--json", "is_json", is_flag=True, help="print one JSON object per row")
@connection_options
def command(
    connection: Connection,
    *,
    stream: str,
    shards: tuple[str, ...],
    start: str,
    raw: bool,
    count: int | None,
    no_follow: bool,
    width: int,
    is_json: bool,
) -> int:
    """Show records as they arrive: age, shard, size, key and data.

    Rows of aggregated records (KPL) are shown one by one, with their number and the program that
    wrote them. The command follows splits and merges: it reads a shard after its parents. It uses
    at most a fifth of the read quota of a shard, and ends at Ctrl-C.

    \b
    Calls: DescribeStreamSummary, ListShards, GetShardIterator, GetRecords.

    \b
    Examples:
      spark-kinesis tail --stream orders
      spark-kinesis tail --stream orders --shard 3 --from 10m --raw
      spark-kinesis tail --stream orders --from trim_horizon --no-follow --json > orders.jsonl

    Exit codes: 0 success, 2 an error.
    """
    try:
        rows = tail(
            stream,
            kinesis=connection.kinesis(attempts=_ATTEMPTS),
            start=start,
            shards=shards,
            raw=raw,
            follow=not no_follow,
        )
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    if not is_json:
        to_stderr(HEADER)
    try:
        for row in islice(rows, count):
            if is_json:
                print_json(as_json(row))
            else:
                click.echo(line(row, utc_now(), width))
    except KeyboardInterrupt:
        pass  # the normal end
    return 0
