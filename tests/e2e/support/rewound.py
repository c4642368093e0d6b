"""A query that is stopped, moved and started again."""

from __future__ import annotations

import time
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from spark_kinesis.tools.cli import run
from tests.e2e.support.harness import Collector, Reading, running
from tests.e2e.support.streams import REGION, Stream, Written, wait_for

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession


class Rewound:
    """A query over a stream that is stopped and moved."""

    def __init__(
        self,
        spark: SparkSession,
        stream: Stream,
        checkpoint: Path,
        source: Reading | None = None,
    ) -> None:
        """Nothing runs yet."""
        self.spark, self.stream, self.checkpoint = spark, stream, checkpoint
        self.source = source or stream.source()

    def run(self) -> Collector:
        """Let the query read all records that have arrived."""
        collector = Collector()
        with running(self.spark, self.source, self.checkpoint, collector) as query:
            collector.wait(query, self.stream.fence())
            # The batch of the fence may be in the sink, and not yet in the log.
            wait_for("the last batch is completed", lambda: self.planned() == self.completed())
        return collector

    def planned(self) -> set[str]:
        """The numbers of the batches in the log."""
        return {it.name for it in (self.checkpoint / "offsets").glob("[0-9]*")}

    def completed(self) -> set[str]:
        """The numbers of the completed batches."""
        return {it.name for it in (self.checkpoint / "commits").glob("[0-9]*")}

    def rewind(self, to: str, *words: str) -> int:
        """Move the query."""
        agreed = ["--yes", "--watch", "0s"]
        access = ["--endpoint", self.stream.endpoint, "--region", REGION]
        return run(
            ["rewind", "--checkpoint", str(self.checkpoint), "--to", to, *agreed, *words, *access]
        )

    def put(self, count: int) -> list[Written]:
        """Write records. Returns them."""
        before = len(self.stream.written)
        self.stream.put(count)
        return self.stream.written[before:]

    def now(self) -> str:
        """A time after all records written so far, and before all later ones."""
        time.sleep(1.1)  # the service's clock has milliseconds, and describes itself in seconds
        now = datetime.now(timezone.utc)
        time.sleep(0.1)
        return now.isoformat()
