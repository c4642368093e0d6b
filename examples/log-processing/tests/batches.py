"""Progress items for tests of the dashboard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from log_processing.progress import LIFE_SECONDS, Latency, LatestError, Progress, ShardLag
from log_processing.table import items
from log_processing.table.keys import progress_keys

NOW = 1_795_417_200
JOB = "logs"


def batch(
    number: int,
    time: float = NOW,
    *,
    seconds: Sequence[tuple[int, str, str, int]] = (),
    latency: Latency | None = None,
    shards: Sequence[ShardLag] = (),
    shard_count: int = 0,
    errors: Sequence[LatestError] = (),
    bad: int = 0,
    query: str = "query",
) -> Progress:
    """What a batch reports that ended at ``time`` (seconds since 1970)."""
    return Progress(
        time=int(time * 1000),
        query=query,
        batch=number,
        records=sum(it[3] for it in seconds),
        events=sum(it[3] for it in seconds),
        bad=bad,
        errors=len(errors),
        seconds=seconds,
        latency=latency,
        shards=shards,
        shardCount=shard_count or len(shards),
        latestErrors=errors,
    )


def progress_item(progress: Progress, job: str = JOB) -> dict[str, Any]:
    """The DynamoDB item of a batch."""
    expires = progress.time // 1000 + LIFE_SECONDS
    keys = progress_keys(job, progress.time, progress.query, progress.batch)
    return items.progress_item(keys, progress.to_json(), expires).attributes


class ProgressTable:
    """A table in memory that answers the queries of the dashboard.

    Attributes:
        failure: raised instead of an answer.
        queries: the requests.
    """

    def __init__(self, *batches: Progress) -> None:
        """Store the batches."""
        self.failure: Exception | None = None
        self.queries: list[dict[str, Any]] = []
        self._items: dict[str, dict[str, Any]] = {}
        self.put(*batches)

    def put(self, *batches: Progress) -> None:
        """Store batches."""
        self._items.update({it["sk"]["S"]: it for it in map(progress_item, batches)})

    def query(self, **request: Any) -> dict[str, Any]:
        """The newest batches."""
        self.queries.append(request)
        if self.failure is not None:
            raise self.failure
        values = request["ExpressionAttributeValues"]
        found = [it for name, it in self._items.items() if name >= values[":first"]["S"]]
        found = [it for it in found if it["pk"] == values[":pk"]]
        found.sort(key=lambda it: str(it["sk"]["S"]), reverse=not request["ScanIndexForward"])
        return {"Items": found[: request["Limit"]]}
