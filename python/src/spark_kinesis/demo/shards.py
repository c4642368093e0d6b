"""The shards of the log, listed, split and merged with boto3."""

from __future__ import annotations

from typing import Any

from spark_kinesis.local._calls.shards import Shard, children, described, open_shards, short

__all__ = ["Shard", "children", "list_shards", "merge", "short", "split"]


def list_shards(client: Any, stream: str) -> list[Shard]:
    """All shards, open and closed, by id."""
    found = client.list_shards(StreamName=stream)["Shards"]
    return sorted(map(described, found), key=lambda shard: shard.id)


def split(client: Any, stream: str) -> list[Shard]:
    """Split the first open shard in half. Returns it."""
    shard = open_shards(list_shards(client, stream))[0]
    client.split_shard(
        StreamName=stream, ShardToSplit=shard.id, NewStartingHashKey=str(shard.middle)
    )
    return [shard]


def merge(client: Any, stream: str) -> list[Shard]:
    """Merge the last two open shards. Returns them."""
    left, right = open_shards(list_shards(client, stream))[-2:]
    client.merge_shards(StreamName=stream, ShardToMerge=left.id, AdjacentShardToMerge=right.id)
    return [left, right]
