"""Aggregates as other readers see them: `aws_kinesis_agg`, and the Kinesis Client Library (KCL)."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aws_kinesis_agg import MAGIC
from aws_kinesis_agg.deaggregator import iter_deaggregate_records
from aws_kinesis_agg.messages_pb2 import AggregatedRecord

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.e2e.support.streams import Stream

DIGEST_BYTES = 16
Keyed = tuple[str, bytes]


@dataclass(frozen=True)
class Packed:
    """A Kinesis record, and the hash keys of its shard."""

    shard: str
    first: int
    last: int
    key: str
    data: bytes

    @property
    def is_aggregate(self) -> bool:
        """Whether it has the magic number and the checksum of an aggregate."""
        body, digest = self.data[len(MAGIC) : -DIGEST_BYTES], self.data[-DIGEST_BYTES:]
        is_marked = self.data.startswith(MAGIC)
        return is_marked and hashlib.md5(body, usedforsecurity=False).digest() == digest

    @property
    def size(self) -> int:
        """Its size in bytes, as the service counts it."""
        return len(self.data) + len(self.key.encode())

    @property
    def inside(self) -> list[tuple[Keyed, int]]:
        """The records of an aggregate, each with the hash key that chooses its shard."""
        message = AggregatedRecord.FromString(self.data[len(MAGIC) : -DIGEST_BYTES])
        return [(_keyed(message, it), _hash_key(message, it)) for it in message.records]

    def holds(self, hash_key: int) -> bool:
        """Whether a hash key belongs to the shard."""
        return self.first <= hash_key <= self.last


def packed(stream: Stream) -> list[Packed]:
    """All Kinesis records of a stream, parents before children."""
    return [
        Packed(
            shard["ShardId"],
            int(shard["HashKeyRange"]["StartingHashKey"]),
            int(shard["HashKeyRange"]["EndingHashKey"]),
            record["PartitionKey"],
            record["Data"],
        )
        for shard, record in stream.raw_records()
    ]


def read_by_agg(stream: Stream) -> list[Keyed]:
    """The records of a stream as `aws_kinesis_agg` returns them."""
    return deaggregated([record for _, record in stream.raw_records()])


def deaggregated(records: list[dict[str, Any]]) -> list[Keyed]:
    """The user records in records of boto3, by `aws_kinesis_agg`. A marker has none."""
    users = (it["kinesis"] for it in iter_deaggregate_records(records, data_format="Boto3"))
    return [
        (
            user["partitionKey"],
            base64.b64decode(user["data"]) if "aggregated" in user else user["data"],
        )
        for user in users
    ]


def read_by_kcl(stream: Stream) -> list[Keyed]:
    """The records of a stream as a program with the Kinesis Client Library receives them.

    It drops an aggregate whole, and says nothing, where one record inside belongs to another shard.
    """
    return [keyed for record in packed(stream) for keyed in _kept(record)]


def dropped_by_kcl(stream: Stream) -> int:
    """The number of aggregates with such records."""
    return sum(not any(True for _ in _kept(record)) for record in packed(stream))


def _kept(record: Packed) -> Iterator[Keyed]:
    if not record.is_aggregate:
        yield record.key, record.data
    elif all(record.holds(hash_key) for _, hash_key in record.inside):
        yield from (keyed for keyed, _ in record.inside)


def _keyed(message: Any, record: Any) -> Keyed:
    return message.partition_key_table[record.partition_key_index], record.data


def _hash_key(message: Any, record: Any) -> int:
    if record.HasField("explicit_hash_key_index"):
        return int(message.explicit_hash_key_table[record.explicit_hash_key_index])
    key: str = message.partition_key_table[record.partition_key_index]
    return int(hashlib.md5(key.encode(), usedforsecurity=False).hexdigest(), 16)
