"""The rows of a record, as lines and as JSON."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from spark_kinesis.tools.facts.aggregates import maker, parse
from spark_kinesis.tools.facts.streams import short_id

_KEY_WIDTH = 20
HEADER = f"{'AGE':>8}  {'SHARD':>5}  {'SIZE':>9}  {'KEY':<{_KEY_WIDTH}}  DATA"


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
    place = {
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
    for sub, row in enumerate(found.rows):
        yield Row(
            **place,
            key=row.key,
            hash_key=row.hash_key,
            data=row.data,
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
    parts = (
        f"{_age((now - row.arrived).total_seconds()):>8}",
        f"{short_id(row.shard):>5}",
        f"{len(row.data):>7} B",
        f"{cut('-' if row.key is None else row.key, _KEY_WIDTH):<{_KEY_WIDTH}}",
        _aggregated(row) + shown(row.data, width),
    )
    return "  ".join(parts).rstrip()


def as_json(row: Row) -> dict[str, Any]:
    """A row for programs. ``spark-kinesis generate --replay`` reads it."""
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


def _aggregated(row: Row) -> str:
    if row.rows is None:
        return ""
    if row.sub is None:
        return f"[{row.rows} rows by {row.maker}] "
    return f"[{row.sub + 1}/{row.rows} by {row.maker}] "


def _text(data: bytes) -> str | None:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def _age(seconds: float) -> str:
    if seconds < 60:  # noqa: PLR2004 seconds of a minute
        return f"{max(0.0, seconds):.1f}s"
    if seconds < 3600:  # noqa: PLR2004 of an hour
        return f"{seconds / 60:.1f}m"
    return f"{seconds / 3600:.1f}h"
