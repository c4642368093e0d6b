"""Aggregated records: several user records in one Kinesis record, as the KPL writes them.

The message is that of ``aws_kinesis_agg``.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache
from hashlib import md5
from typing import Any

from spark_kinesis._errors import MissingPackageError

_MARK = b"\xf3\x89\x9a\xc2"
_DIGEST_BYTES = 16
_MARKER = "spark-kinesis-marker"


@dataclass(frozen=True, kw_only=True, slots=True)
class UserRecord:
    """A user record in an aggregate."""

    key: str
    hash_key: str | None
    data: bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class Aggregate:
    """An aggregated record."""

    rows: tuple[UserRecord, ...]  # the user records. A marker of an exactly-once query has none.
    keys: tuple[str, ...]  # the table of partition keys

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
    found = _read(text)
    return found if found is not None and (found.rows or found.is_marker) else None


def _read(text: bytes) -> Aggregate | None:
    message = _messages().AggregatedRecord()
    from google.protobuf.message import DecodeError  # noqa: PLC0415 comes with the library

    try:
        message.ParseFromString(text)
        keys = tuple(map(_text, message.partition_key_table))
        hash_keys = tuple(map(_text, message.explicit_hash_key_table))
        rows = tuple(_row(it, keys, hash_keys) for it in message.records)
    except (DecodeError, IndexError, ValueError):
        return None
    return Aggregate(rows=rows, keys=keys)


@cache
def _messages() -> Any:
    """The messages of the library, which puts its own folder in front of Python's path."""
    places = list(sys.path)
    try:
        from aws_kinesis_agg import deaggregator  # noqa: PLC0415 optional, and slow to load
    except ImportError as error:
        raise MissingPackageError(
            f"aggregated records need {error.name}: pip install aws_kinesis_agg six"
        ) from error
    finally:
        sys.path[:] = places
    return deaggregator.messages_pb2


def _text(found: str | bytes) -> str:
    """A text. Protobuf returns bytes if they are not UTF-8."""
    return found if isinstance(found, str) else found.decode()


def _row(row: Any, keys: tuple[str, ...], hash_keys: tuple[str, ...]) -> UserRecord:
    if not (row.HasField("partition_key_index") and row.HasField("data")):
        raise ValueError("a record without a key or data")
    has_hash_key = row.HasField("explicit_hash_key_index")
    return UserRecord(
        key=keys[row.partition_key_index],
        hash_key=hash_keys[row.explicit_hash_key_index] if has_hash_key else None,
        data=row.data,
    )
