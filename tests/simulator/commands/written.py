"""A query that never ran: a local Kinesis, and a checkpoint written by hand."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

from spark_kinesis._offsets import Progress, ShardOffset, SourceOffset, StreamOffset, encode
from spark_kinesis.tools.facts.streams import describe
from tests.simulator.calls import client_of

if TYPE_CHECKING:
    from spark_kinesis.local import LocalKinesis


class Query:
    """A checkpoint of a query that reads `orders`, one micro-batch every 10 s."""

    def __init__(self, kinesis: LocalKinesis, folder: Path) -> None:
        """Start without a micro-batch."""
        self.kinesis, self.folder = kinesis, folder
        self.client = client_of(kinesis.endpoint)
        found = describe(self.client, "orders")
        self.arn = found.arn
        self.created = found.created.astimezone(timezone.utc).isoformat()
        for part in ("offsets", "commits"):
            (folder / part).mkdir()
        (folder / "metadata").write_text('{"id":"the-query"}')
        self.batches = 0

    def complete(self, **shards: ShardOffset) -> None:
        """Complete a micro-batch, and let 10 s pass."""
        names = {f"shardId-{int(it.lstrip('s')):012}": at for it, at in shards.items()}
        stream = StreamOffset(created=self.created, shards=names)
        head = json.dumps({"batchTimestampMs": int(self.kinesis.now.timestamp() * 1000)})
        offset = encode(SourceOffset(streams={self.arn: stream}))
        (self.folder / f"offsets/{self.batches}").write_text(f"v1\n{head}\n{offset}")
        (self.folder / f"commits/{self.batches}").write_text("v1\n{}")
        self.batches += 1
        self.kinesis.advance(10)

    def put(self, count: int) -> datetime:
        """Write records to the first shard, one per second. Returns when the first arrived."""
        began = self.kinesis.now
        for _ in range(count):
            self.client.put_record(
                StreamName="orders", PartitionKey="k", ExplicitHashKey="0", Data=b"x" * 100
            )
            self.kinesis.advance(1)
        return began

    def words(self, command: str, *more: str) -> list[str]:
        """The words of a command about this query."""
        return [
            command,
            "--checkpoint",
            str(self.folder),
            "--endpoint",
            self.kinesis.endpoint,
            *more,
        ]


def at(time_of_arrival: datetime) -> ShardOffset:
    """All records before a time were read. It is what a query that starts at a time has."""
    text = time_of_arrival.isoformat().replace("+00:00", "Z")
    return ShardOffset(progress=Progress.AT, time=text, complete_as_of=time_of_arrival)


class Clock:
    """A clock that moves the clock of the local Kinesis instead of waiting."""

    def __init__(self, kinesis: LocalKinesis, looks: int = 99) -> None:
        """After so many looks, the user presses Ctrl-C."""
        self.kinesis, self.looks, self.now = kinesis, looks, 0.0

    def monotonic(self) -> float:
        """Seconds."""
        return self.now

    def sleep(self, seconds: float) -> None:
        """Move the clocks."""
        self.looks -= 1
        if not self.looks:
            raise KeyboardInterrupt
        self.kinesis.advance(seconds)
        self.now += seconds
