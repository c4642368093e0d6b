"""Streams of a local Kinesis: made, deleted and resharded, each time until they are active."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ._errors import LocalKinesisError
from ._patience import RATE_SECONDS, ask, is_rate, patiently
from ._shards import Shard, described, one_to_split, open_shards, pair_to_merge

if TYPE_CHECKING:
    from ._wire import Wire

_SETTLE_SECONDS, _POLL_SECONDS = 60.0, 0.15


def create(wire: Wire, name: str, shards: int) -> None:
    """Make a stream."""
    _change(wire, "CreateStream", StreamName=name, ShardCount=shards)
    settled(wire, name)


def delete(wire: Wire, name: str) -> None:
    """Delete a stream with its consumers, and return when it is gone."""
    _change(wire, "DeleteStream", StreamName=name, EnforceConsumerDeletion=True)
    _until(lambda: name not in names(wire), f"stream {name} is still there")


def names(wire: Wire) -> list[str]:
    """All streams."""
    page = ask(wire, "ListStreams")
    found: list[str] = list(page["StreamNames"])
    while page["HasMoreStreams"]:
        page = ask(wire, "ListStreams", ExclusiveStartStreamName=found[-1])
        found += page["StreamNames"]
    return found


def split(wire: Wire, stream: str, shard: str | None, at: int | None) -> tuple[str, str]:
    """Split a shard; the new ones, lower first."""
    if shard is None or at is None:
        chosen = one_to_split(stream, settled(wire, stream), shard, at)
        shard, at = chosen.id, chosen.middle if at is None else at
    _change(wire, "SplitShard", StreamName=stream, ShardToSplit=shard, NewStartingHashKey=str(at))
    low, high = _children(wire, stream, shard)
    return low, high


def merge(wire: Wire, stream: str, shard: str | None, adjacent: str | None) -> str:
    """Merge two shards; the new one."""
    if shard is None or adjacent is None:
        low, high = pair_to_merge(stream, settled(wire, stream), shard, adjacent)
        shard, adjacent = low.id, high.id
    _change(
        wire,
        "MergeShards",
        StreamName=stream,
        ShardToMerge=shard,
        AdjacentShardToMerge=adjacent,
    )
    (merged,) = _children(wire, stream, shard)
    return merged


def scale(wire: Wire, stream: str, shards: int) -> list[str]:
    """Change the number of open shards; the open ones, once they are listed."""
    _change(
        wire,
        "UpdateShardCount",
        StreamName=stream,
        TargetShardCount=shards,
        ScalingType="UNIFORM_SCALING",
    )
    found: list[Shard] = []

    def is_listed() -> bool:
        found[:] = open_shards(settled(wire, stream))
        return len(found) == shards

    _until(is_listed, f"stream {stream} does not list its {shards} open shards")
    return [shard.id for shard in found]


def settled(wire: Wire, stream: str) -> list[Shard]:
    """All shards of a stream, once it is active; those of before a reshard during the list lag."""
    found: list[Shard] = []

    def is_active() -> bool:
        status, found[:] = _describe(wire, stream)
        return status == "ACTIVE"

    _until(is_active, f"stream {stream} is not active")
    return found


def _describe(wire: Wire, stream: str) -> tuple[str, list[Shard]]:
    page = ask(wire, "DescribeStream", StreamName=stream)["StreamDescription"]
    shards = [described(shard) for shard in page["Shards"]]
    while page["HasMoreShards"]:
        after = shards[-1].id
        answer = ask(wire, "DescribeStream", StreamName=stream, ExclusiveStartShardId=after)
        page = answer["StreamDescription"]
        shards += [described(shard) for shard in page["Shards"]]
    return str(page["StreamStatus"]), shards


def _children(wire: Wire, stream: str, closed: str) -> list[str]:
    """What became of a shard, by hash key; the end of its records tells, without any lag."""
    settled(wire, stream)
    token: str = ask(
        wire,
        "GetShardIterator",
        StreamName=stream,
        ShardId=closed,
        ShardIteratorType="LATEST",
    )["ShardIterator"]
    page: dict[str, Any] = {}

    def is_end() -> bool:
        nonlocal token, page
        page = ask(wire, "GetRecords", ShardIterator=token)
        token = page.get("NextShardIterator", token)
        return "ChildShards" in page

    _until(is_end, f"stream {stream}: {closed} does not tell its children")
    born = sorted(page["ChildShards"], key=_first_hash_key)
    return [str(child["ShardId"]) for child in born]


def _first_hash_key(child: dict[str, Any]) -> int:
    return int(child["HashKeyRange"]["StartingHashKey"])


def _change(wire: Wire, operation: str, **fields: object) -> None:
    patiently(lambda: wire.call(operation, **fields), is_rate, RATE_SECONDS)


def _until(is_so: Callable[[], bool], complaint: str) -> None:
    until = time.monotonic() + _SETTLE_SECONDS
    while not is_so():
        if time.monotonic() > until:
            raise LocalKinesisError(f"{complaint} after {_SETTLE_SECONDS:.0f} s")
        time.sleep(_POLL_SECONDS)
