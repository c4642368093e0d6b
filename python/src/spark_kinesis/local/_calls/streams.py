"""Streams of a local Kinesis: create, delete, reshard, and wait until the stream is active."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .clock import wait_until
from .retries import RATE_SECONDS, ask, is_throttled, with_retries
from .shards import Shard, described, open_shards, pair_to_merge, shard_to_split

if TYPE_CHECKING:
    from .http_api import HttpApi


def create(api: HttpApi, name: str, shards: int) -> None:
    """Create a stream."""
    _change(api, "CreateStream", StreamName=name, ShardCount=shards)
    active(api, name)


def delete(api: HttpApi, name: str) -> None:
    """Delete a stream and its consumers, and wait until it no longer exists."""
    _change(api, "DeleteStream", StreamName=name, EnforceConsumerDeletion=True)
    wait_until(api, lambda: name not in names(api), f"stream {name} still exists")


def names(api: HttpApi) -> list[str]:
    """The names of all streams."""
    page = ask(api, "ListStreams")
    found: list[str] = list(page["StreamNames"])
    while page["HasMoreStreams"]:
        page = ask(api, "ListStreams", ExclusiveStartStreamName=found[-1])
        found += page["StreamNames"]
    return found


def split(api: HttpApi, stream: str, shard: str | None, at: int | None) -> tuple[str, str]:
    """Split a shard. Returns the new shards, the lower one first."""
    if shard is None or at is None:
        chosen = shard_to_split(stream, active(api, stream), shard, at)
        shard, at = chosen.id, chosen.middle if at is None else at
    _change(api, "SplitShard", StreamName=stream, ShardToSplit=shard, NewStartingHashKey=str(at))
    low, high = _children(api, stream, shard)
    return low, high


def merge(api: HttpApi, stream: str, shard: str | None, adjacent: str | None) -> str:
    """Merge two shards. Returns the new one."""
    if shard is None or adjacent is None:
        low, high = pair_to_merge(stream, active(api, stream), shard, adjacent)
        shard, adjacent = low.id, high.id
    _change(
        api,
        "MergeShards",
        StreamName=stream,
        ShardToMerge=shard,
        AdjacentShardToMerge=adjacent,
    )
    (merged,) = _children(api, stream, shard)
    return merged


def scale(api: HttpApi, stream: str, shards: int) -> list[str]:
    """Change the number of open shards. Returns the open shards, by hash key."""
    _change(
        api,
        "UpdateShardCount",
        StreamName=stream,
        TargetShardCount=shards,
        ScalingType="UNIFORM_SCALING",
    )
    found: list[Shard] = []

    def is_listed() -> bool:
        found[:] = open_shards(active(api, stream))
        return len(found) == shards

    wait_until(api, is_listed, f"stream {stream} does not list its {shards} open shards")
    return [shard.id for shard in found]


def active(api: HttpApi, stream: str) -> list[Shard]:
    """All shards of a stream when it is active. During the list lag, those before the reshard."""
    found: list[Shard] = []

    def is_active() -> bool:
        status, found[:] = _describe(api, stream)
        return status == "ACTIVE"

    wait_until(api, is_active, f"stream {stream} is not active")
    return found


def _describe(api: HttpApi, stream: str) -> tuple[str, list[Shard]]:
    page = ask(api, "DescribeStream", StreamName=stream)["StreamDescription"]
    shards = [described(shard) for shard in page["Shards"]]
    while page["HasMoreShards"]:
        after = shards[-1].id
        answer = ask(api, "DescribeStream", StreamName=stream, ExclusiveStartShardId=after)
        page = answer["StreamDescription"]
        shards += [described(shard) for shard in page["Shards"]]
    return str(page["StreamStatus"]), shards


def _children(api: HttpApi, stream: str, closed: str) -> list[str]:
    """The children of a shard, by hash key, from the end of its records: that has no list lag."""
    active(api, stream)
    token: str = ask(
        api,
        "GetShardIterator",
        StreamName=stream,
        ShardId=closed,
        ShardIteratorType="LATEST",
    )["ShardIterator"]
    page: dict[str, Any] = {}

    def is_end() -> bool:
        nonlocal token, page
        page = ask(api, "GetRecords", ShardIterator=token)
        token = page.get("NextShardIterator", token)
        return "ChildShards" in page

    wait_until(api, is_end, f"stream {stream}: shard {closed} does not report its children")
    born = sorted(page["ChildShards"], key=_first_hash_key)
    return [str(child["ShardId"]) for child in born]


def _first_hash_key(child: dict[str, Any]) -> int:
    return int(child["HashKeyRange"]["StartingHashKey"])


def _change(api: HttpApi, operation: str, **fields: object) -> None:
    with_retries(lambda: api.call(operation, **fields), is_throttled, RATE_SECONDS)
