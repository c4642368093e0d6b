"""The shards of a stream."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient
    from mypy_boto3_kinesis.type_defs import ShardTypeDef

HASH_KEYS = 2**128
_NAMED = 5
_ID_LENGTH = 20


@dataclass(frozen=True, kw_only=True)
class StreamShard:
    """A shard as ``ListShards`` returns it.

    Attributes:
        id: ID, such as ``shardId-000000000003``.
        parents: IDs of the shards that it replaced. They may have expired.
        first_key: lowest hash key, inclusive.
        last_key: highest hash key, inclusive.
        starting: sequence number before which it has no record.
        ending: sequence number after which it has none. ``None`` while it is open.
    """

    id: str
    parents: tuple[str, ...]
    first_key: int
    last_key: int
    starting: int
    ending: int | None

    @property
    def is_open(self) -> bool:
        """Whether it accepts records."""
        return self.ending is None

    @property
    def share(self) -> float:
        """The shard's part of all hash keys, from 0 to 1."""
        return (self.last_key - self.first_key + 1) / HASH_KEYS


def stream_request(stream: str) -> dict[str, Any]:
    """The argument of a call that names a stream.

    Args:
        stream: name or ARN.
    """
    return {"StreamARN" if stream.startswith("arn:") else "StreamName": stream}


def list_shards(client: KinesisClient, stream: str) -> list[StreamShard]:
    """All shards that hold records or accept them, by ID.

    Args:
        client: client of Kinesis.
        stream: name or ARN.
    """
    request = stream_request(stream)
    found: list[StreamShard] = []
    while True:
        answer = client.list_shards(**request)
        found += [_shard(it) for it in answer["Shards"]]
        token = answer.get("NextToken")
        if not token:
            return sorted(found, key=lambda it: it.id)
        request = {"NextToken": token}


def short_id(shard: str) -> str:
    """A shard ID without its zeros: ``shardId-000000000003`` is ``3``."""
    number = shard.removeprefix("shardId-")
    return str(int(number)) if number.isdecimal() and len(shard) == _ID_LENGTH else shard


def full_id(shards: Iterable[str], wanted: str) -> str:
    """The shard ID that a person means by its number, such as ``3``. Another text stays.

    Args:
        shards: IDs of all shards.
        wanted: ID or number.
    """
    number = str(int(wanted)) if wanted.isdecimal() else wanted
    return next((it for it in shards if short_id(it) == number), wanted)


def named(shards: Sequence[str]) -> str:
    """The first five shards, and how many more there are."""
    first, more = ", ".join(shards[:_NAMED]), len(shards) - _NAMED
    if more <= 0:
        return first
    return f"{first} and {more} {'other' if more == 1 else 'others'}"


def _shard(found: ShardTypeDef) -> StreamShard:
    numbers, keys = found["SequenceNumberRange"], found["HashKeyRange"]
    parents = (found.get("ParentShardId"), found.get("AdjacentParentShardId"))
    ending = numbers.get("EndingSequenceNumber")
    return StreamShard(
        id=found["ShardId"],
        parents=tuple(parent for parent in parents if parent),
        first_key=int(keys["StartingHashKey"]),
        last_key=int(keys["EndingHashKey"]),
        starting=int(numbers["StartingSequenceNumber"]),
        ending=None if ending is None else int(ending),
    )
