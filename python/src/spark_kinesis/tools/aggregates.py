"""Aggregated records: several user records in one Kinesis record, read by ``aws_kinesis_agg``."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from functools import cache
from hashlib import md5
from typing import Any

from spark_kinesis._errors import MissingPackageError

_MARK = b"\xf3\x89\x9a\xc2"
_DIGEST_BYTES = 16
_MARKER = "spark-kinesis-marker"
_TAG = "spark-kinesis"
_KPL_KEY = "a"
_WRITER = re.compile(r"(\S+) (\d+) \S+ \d+ (\d+) \d+ (\d{12,18})")


@dataclass(frozen=True, kw_only=True, slots=True)
class UserRecord:
    """A user record in an aggregate.

    Attributes:
        key: partition key.
        hash_key: explicit hash key, as text.
        data: data.
        tags: keys and values, which consumers ignore.
    """

    key: str
    hash_key: str | None
    data: bytes
    tags: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Aggregate:
    """An aggregated record.

    Attributes:
        rows: the user records. A marker of an exactly-once query has none.
        keys: the table of partition keys.
    """

    rows: tuple[UserRecord, ...]
    keys: tuple[str, ...]

    @property
    def is_marker(self) -> bool:
        """Whether an exactly-once query wrote it to find its own records."""
        return not self.rows and self.keys == (_MARKER,)


def parse(data: bytes) -> Aggregate | None:
    """The aggregate in the data of a record. ``None`` if the record is a plain one.

    As in the connector, a record is plain if its MD5 is wrong or one of its user records is
    malformed. The functions of the library are not used for this: they give a row without a hash
    key that of another row, and print errors.
    """
    if len(data) <= len(_MARK) + _DIGEST_BYTES or not data.startswith(_MARK):
        return None
    text = data[len(_MARK) : -_DIGEST_BYTES]
    if md5(text, usedforsecurity=False).digest() != data[-_DIGEST_BYTES:]:
        return None
    from google.protobuf.message import DecodeError  # noqa: PLC0415 comes with the library

    message = _messages().AggregatedRecord()
    try:
        message.ParseFromString(text)
        rows = tuple(_row(message, it) for it in message.records)
        found = Aggregate(rows=rows, keys=tuple(message.partition_key_table))
    except (DecodeError, IndexError, UnicodeDecodeError):
        return None
    return found if found.rows or found.is_marker else None


def maker(aggregate: Aggregate, key: str) -> str:
    """Which program wrote an aggregate.

    A tag and a marker are certain. Otherwise, this is the program whose aggregates look like this.

    Args:
        aggregate: the aggregate.
        key: partition key of the Kinesis record.
    """
    if aggregate.is_marker:
        return "spark-kinesis, marker"
    tag = dict(aggregate.rows[0].tags).get(_TAG)
    if tag is not None:
        words = _WRITER.fullmatch(tag)
        return (
            f"spark-kinesis, exactly once: query {words[1]}, batch {words[2]}, task {words[3]}, "
            f"number {int(words[4])}"
            if words
            else "spark-kinesis, exactly once"
        )
    if key == _KPL_KEY:
        hash_keys = {it.hash_key for it in aggregate.rows}
        # Our sink gives all rows one hash key, so that a reshard leaves them together.
        is_shared = len(hash_keys) == 1 and None not in hash_keys
        return "spark-kinesis" if is_shared else "KPL, or spark-kinesis with ordering=perKey"
    return "aggregation library" if key == aggregate.rows[0].key else "other"


def _row(message: Any, row: Any) -> UserRecord:
    has_hash_key = row.HasField("explicit_hash_key_index")
    return UserRecord(
        key=message.partition_key_table[row.partition_key_index],
        hash_key=message.explicit_hash_key_table[row.explicit_hash_key_index]
        if has_hash_key
        else None,
        data=row.data,
        tags=tuple((it.key, it.value) for it in row.tags),
    )


@cache
def _messages() -> Any:
    """The messages of the library, which puts its own folder in front of Python's path."""
    path = list(sys.path)
    try:
        from aws_kinesis_agg import deaggregator  # noqa: PLC0415 slow to load
    except ImportError as error:
        raise MissingPackageError(
            f"aggregated records need {error.name}: pip install aws_kinesis_agg six"
        ) from error
    finally:
        sys.path[:] = path
    return deaggregator.messages_pb2
