"""Aggregated records: several user records in one Kinesis record.

The format is that of the Kinesis Producer Library (KPL): ``F3 89 9A C2``, a protobuf message, and
the MD5 of the message. The message has a table of partition keys (field 1), a table of explicit
hash keys (field 2), and the user records (field 3): index of the partition key (1), index of the
explicit hash key (2), data (3), and tags (4) of a key (1) and a value (2).
Source: https://github.com/awslabs/kinesis-aggregation/blob/master/KPL_AGGREGATION_FORMAT.md
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import md5

from .protobuf import SPAN, VARINT, MalformedError, fields

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
    malformed.
    """
    if len(data) <= len(_MARK) + _DIGEST_BYTES or not data.startswith(_MARK):
        return None
    message = data[len(_MARK) : -_DIGEST_BYTES]
    if md5(message, usedforsecurity=False).digest() != data[-_DIGEST_BYTES:]:
        return None
    try:
        found = _aggregate(message)
    except ValueError:  # malformed, or text that is not UTF-8
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
    if key == aggregate.rows[0].key:
        return "aggregation library"
    return "other"


def _aggregate(message: bytes) -> Aggregate:
    keys: list[str] = []
    hash_keys: list[str] = []
    bodies: list[bytes] = []
    for number, kind, value in fields(message):
        if kind == SPAN and isinstance(value, bytes):
            if number == 1:
                keys.append(value.decode())
            elif number == 2:  # noqa: PLR2004 the numbers of the format
                hash_keys.append(value.decode())
            elif number == 3:  # noqa: PLR2004
                bodies.append(value)
    rows = tuple(_row(body, keys, hash_keys) for body in bodies)
    return Aggregate(rows=rows, keys=tuple(keys))


def _row(body: bytes, keys: list[str], hash_keys: list[str]) -> UserRecord:
    found: dict[int, int | bytes] = {}
    tags: list[tuple[str, str]] = []
    for number, kind, value in fields(body):
        if (number, kind) == (4, SPAN) and isinstance(value, bytes):
            tags.append(_tag(value))
        elif (number, kind) in ((1, VARINT), (2, VARINT), (3, SPAN)):
            found[number] = value  # the last of repeated fields counts
    key, hash_key, data = found.get(1), found.get(2), found.get(3)
    if not isinstance(key, int) or not isinstance(data, bytes) or key >= len(keys):
        raise MalformedError("a record without a key or data")
    if isinstance(hash_key, int) and hash_key >= len(hash_keys):
        raise MalformedError("a hash key that is not in the table")
    return UserRecord(
        key=keys[key],
        hash_key=hash_keys[hash_key] if isinstance(hash_key, int) else None,
        data=data,
        tags=tuple(tags),
    )


def _tag(message: bytes) -> tuple[str, str]:
    """A tag. Text that is not UTF-8 is no reason to refuse a record: consumers ignore tags."""
    texts = {1: "", 2: ""}
    for number, kind, value in fields(message):
        if kind == SPAN and isinstance(value, bytes) and number in texts:
            texts[number] = value.decode(errors="replace")
    return texts[1], texts[2]
