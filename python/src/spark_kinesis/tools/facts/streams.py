"""What Kinesis says about a stream: its settings, its shards, and how they descend from each other.

The calls change nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, TypeVar

from spark_kinesis._offsets import short_id

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient
    from mypy_boto3_kinesis.type_defs import ShardTypeDef

Item = TypeVar("Item")
Found = TypeVar("Found")
Advance = Callable[[int, int], None]

PROVISIONED, ON_DEMAND = "PROVISIONED", "ON_DEMAND"
UNKNOWN_CREATION = datetime.fromtimestamp(0, timezone.utc)
"""Stands for the creation time of a stream if the service does not say it, as in checkpoints."""
HASH_KEYS = 2**128
_NAMED = 5
_THREADS = 10  # the number of connections of a boto3 client


@dataclass(frozen=True, kw_only=True)
class StreamSummary:
    """The answer of ``DescribeStreamSummary``."""

    name: str
    arn: str
    status: str  # ``CREATING``, ``ACTIVE``, ``UPDATING`` or ``DELETING``
    created: datetime  # a stream that is made again has another creation time
    mode: str  # ``PROVISIONED`` or ``ON_DEMAND``
    retention: timedelta
    open_shards: int
    key: str | None  # ID of the KMS key that encrypts the records. ``None`` without encryption.
    server_time: datetime | None = None  # the service's clock, rounded down to a second


@dataclass(frozen=True, kw_only=True)
class StreamShard:
    """A shard as ``ListShards`` returns it."""

    id: str  # such as ``shardId-000000000003``
    parents: tuple[str, ...]  # IDs of the shards that it replaced. They may have expired.
    first_key: int  # lowest hash key, inclusive
    last_key: int  # highest hash key, inclusive
    starting: int  # sequence number before which it has no record
    ending: int | None  # sequence number after which it has none. ``None`` while it is open.

    @property
    def is_open(self) -> bool:
        """Whether it accepts records."""
        return self.ending is None

    @property
    def share(self) -> float:
        """The shard's part of all hash keys, from 0 to 1."""
        return (self.last_key - self.first_key + 1) / HASH_KEYS


def stream_request(stream: str) -> dict[str, Any]:
    """The argument of a call that names a stream by its name or ARN."""
    return {"StreamARN" if stream.startswith("arn:") else "StreamName": stream}


def describe(client: KinesisClient, stream: str) -> StreamSummary:
    """Describe a stream by its name or ARN. The service allows 20 calls per second and account."""
    answer = client.describe_stream_summary(**stream_request(stream))
    found, headers = answer["StreamDescriptionSummary"], answer["ResponseMetadata"]["HTTPHeaders"]
    encrypted = found.get("EncryptionType", "NONE") != "NONE"
    return StreamSummary(
        name=found["StreamName"],
        arn=found["StreamARN"],
        status=found["StreamStatus"],
        created=found.get("StreamCreationTimestamp", UNKNOWN_CREATION),
        mode=found.get("StreamModeDetails", {"StreamMode": PROVISIONED})["StreamMode"],
        retention=timedelta(hours=found["RetentionPeriodHours"]),
        open_shards=found["OpenShardCount"],
        key=found.get("KeyId") if encrypted else None,
        server_time=parsedate_to_datetime(headers["date"]) if "date" in headers else None,
    )


def list_shards(client: KinesisClient, stream: str) -> list[StreamShard]:
    """All shards of a stream that hold records or accept them, by ID."""
    request = stream_request(stream)
    found: list[StreamShard] = []
    while True:
        answer = client.list_shards(**request)
        found += [_shard(it) for it in answer["Shards"]]
        token = answer.get("NextToken")
        if not token:
            return sorted(found, key=lambda it: it.id)
        request = {"NextToken": token}


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


def full_id(shards: Iterable[str], wanted: str) -> str:
    """The shard ID that a person means by its number, such as ``3``. Another text stays."""
    number = str(int(wanted)) if wanted.isdecimal() else wanted
    return next((it for it in shards if short_id(it) == number), wanted)


def named(shards: Sequence[str]) -> str:
    """The first five shards, and how many more there are."""
    first, more = ", ".join(shards[:_NAMED]), len(shards) - _NAMED
    if more <= 0:
        return first
    return f"{first} and {more} {'other' if more == 1 else 'others'}"


def parents_first(shards: Mapping[str, StreamShard]) -> list[StreamShard]:
    """The shards in an order in which each comes after its parents. A lineage may be long."""
    done: dict[str, StreamShard] = {}
    for name in sorted(shards):
        path = [name]
        while path:
            shard = shards[path[-1]]
            missing = [it for it in shard.parents if it in shards and it not in done]
            if missing:
                path.append(missing[0])
            else:
                done[path.pop()] = shard
    return list(done.values())


def descendants(shards: Mapping[str, StreamShard], of: Collection[str]) -> set[str]:
    """The shards that descend from some, without these unless one descends from another."""
    found: set[str] = set()
    for shard in parents_first(shards):
        if any(parent in of or parent in found for parent in shard.parents):
            found.add(shard.id)
    return found


def ancestors(shards: Mapping[str, StreamShard], of: Collection[str]) -> set[str]:
    """The shards from which some descend, also those that are no longer listed."""
    found: set[str] = set()
    for shard in reversed(parents_first(shards)):
        if shard.id in of or shard.id in found:
            found.update(shard.parents)
    return found


def ignore(done: int, total: int) -> None:
    """Show no progress."""


def ask_each(
    ask: Callable[[Item], Found], items: Sequence[Item], advance: Advance = ignore
) -> list[Found]:
    """Call a function for each shard, ten at once: each shard has a quota of its own.

    Returns:
        The results, in the order of the items.
    """
    found: list[Found] = []
    advance(0, len(items))
    with ThreadPoolExecutor(_THREADS) as threads:
        asking = [threads.submit(ask, it) for it in items]
        try:
            for each in asking:
                found.append(each.result())
                advance(len(found), len(items))
        except BaseException:
            threads.shutdown(wait=False, cancel_futures=True)  # Ctrl-C ends within seconds
            raise
    return found
