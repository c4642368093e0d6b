"""A stream that a query takes over from another consumer."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from spark_kinesis.tools.cli import run
from spark_kinesis.tools.facts.checkpoints import Checkpoint
from spark_kinesis.tools.facts.files import open_files
from spark_kinesis.tools.facts.streams import describe
from tests.dynamodb import TABLE

FIRST = "shardId-000000000000"


class Moving:
    """A stream with one shard and ten records, and the new checkpoint of a query."""

    def __init__(self, kinesis: Any, endpoint: str, name: str, folder: Path) -> None:
        """Write ten records."""
        self.client, self.endpoint, self.name = kinesis, endpoint, name
        self.folder = folder / "new"
        self.numbers = [self.put(f"record {number}".encode()) for number in range(10)]

    def put(self, data: bytes) -> str:
        """Write a record. Returns its sequence number."""
        answer = self.client.put_record(StreamName=self.name, PartitionKey="k", Data=data)
        return str(answer["SequenceNumber"])

    def split(self) -> None:
        """Split the first shard."""
        self.client.split_shard(
            StreamName=self.name, ShardToSplit=FIRST, NewStartingHashKey=str(2**127)
        )
        self.client.get_waiter("stream_exists").wait(StreamName=self.name)

    def age(self) -> None:
        """Wait until the time of the service, in whole seconds, is later than all records."""
        begun = describe(self.client, self.name).server_time
        while describe(self.client, self.name).server_time == begun:
            time.sleep(0.05)

    def migrate(self, *words: str) -> int:
        """Take the stream over. Returns the exit code."""
        agreed = ["--yes"] if "--watch" in words else ["--yes", "--watch", "0s"]
        place = ["--checkpoint", str(self.folder), "--stream", self.name, *agreed]
        return run(["migrate", *words, *place, "--endpoint", self.endpoint])

    def kcl(self, moto: str, *words: str) -> int:
        """Take it over from the lease table."""
        return self.migrate("kcl", TABLE, "--dynamodb-endpoint", moto, *words)

    @property
    def begins(self) -> dict[str, str]:
        """The position in each shard of the new checkpoint, without the time after `@`."""
        _, start = Checkpoint(open_files(str(self.folder))).start()
        (stream,) = start.streams.values()
        return {name[-1]: it.text.partition("@")[0] for name, it in stream.shards.items()}
