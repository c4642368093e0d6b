"""Streams that are copied by a Spark cluster while things fail, and the verdict about each copy.

A copy is judged with boto3 and `aws_kinesis_agg`, which know nothing of the connector.
"""

from __future__ import annotations

import base64
import json
import os
import signal
import time
from collections import Counter, defaultdict
from contextlib import ExitStack, closing, contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from aws_kinesis_agg.deaggregator import iter_deaggregate_records

from tests.campaign.rounds import Outcome
from tests.e2e.apps.cluster_queries import load
from tests.e2e.support.processes import executors, of_session
from tests.e2e.support.programs import application, told, told_in
from tests.e2e.support.standalone import Standalone, cluster
from tests.e2e.support.streams import CONSUMERS, Stream, Written, wait_for

if TYPE_CHECKING:
    import random
    import subprocess
    from collections.abc import Iterator
    from pathlib import Path

COPIES = 4
FAULTS = ("lost", "foreign", "twice", "out of order")
PATIENCE_SECONDS = 900.0  # a repeated task waits for 75 s before it reads back, maybe again


@contextmanager
def copying(
    endpoint: str, through: str, chance: random.Random, folder: Path, checkpoints: str = ""
) -> Iterator[Copies]:
    """Copy streams under load. At the end, all rows have arrived, and the program has ended.

    Args:
        endpoint: of the local Kinesis.
        through: address under which the program finds it.
        chance: chooses how to read.
        folder: for logs. It may have a file `spark.json` with more of Spark's settings.
        checkpoints: where the checkpoints are; default: in the folder.
    """
    with (
        cluster(folder, cores=8) as spark,
        closing(Copies(endpoint, spark, folder, chance, checkpoints or str(folder))) as it,
    ):
        with ExitStack() as writers:
            for source in it.sources:
                writers.enter_context(load(source, pause_seconds=0.5))
            it.start(through)
            it.await_rows(time.monotonic())
            it.recoveries.clear()  # a start is no recovery
            yield it
        it.await_all()


class Target:
    """The rows of a target, read to its tip again and again."""

    def __init__(self, stream: Stream) -> None:
        """Read from the trim horizon."""
        self.stream = stream
        self.rows: dict[str, list[Written]] = defaultdict(list)  # by shard
        self._iterators: dict[str, str | None] = {}

    def count(self) -> int:
        """Read what is new, and return the number of all rows so far."""
        for shard in (it["ShardId"] for it in self.stream.all_shards()):
            if shard not in self._iterators:
                self._iterators[shard] = self.stream.client.get_shard_iterator(
                    StreamName=self.stream.name, ShardId=shard, ShardIteratorType="TRIM_HORIZON"
                )["ShardIterator"]
            while iterator := self._iterators[shard]:
                page = self.stream.client.get_records(ShardIterator=iterator)
                self._iterators[shard] = page.get("NextShardIterator")
                self.rows[shard] += rows_of(page["Records"])
                if not page["Records"] and page["MillisBehindLatest"] == 0:
                    break
        return sum(map(len, self.rows.values()))

    def verdict(self, written: list[Written]) -> dict[str, int]:
        """The number of rows lost, repeated, and before an earlier one of their key and shard."""
        seen = Counter(row for rows in self.rows.values() for row in rows)
        disordered = 0
        for rows in self.rows.values():
            numbers = defaultdict(list)
            for row in rows:
                numbers[row.key].append(row.n)
            disordered += sum(b < a for ns in numbers.values() for a, b in pairwise(ns))
        return {
            "rows": len(written),
            "lost": len(set(written) - set(seen)),
            "foreign": len(set(seen) - set(written)),
            "twice": sum(seen.values()) - len(seen),
            "out of order": disordered,
        }


def rows_of(records: list[dict[str, Any]]) -> list[Written]:
    """The rows in Kinesis records. A marker is an aggregate without rows."""
    users = (it["kinesis"] for it in iter_deaggregate_records(records, data_format="Boto3"))
    bodies = (
        json.loads(base64.b64decode(it["data"]) if "aggregated" in it else it["data"])
        for it in users
    )
    return [Written(body["key"], body["n"]) for body in bodies]


class Copies:
    """Streams that are copied, and the program that copies them, which is killed and restarted."""

    def __init__(
        self,
        endpoint: str,
        spark: Standalone,
        folder: Path,
        chance: random.Random,
        checkpoints: str,
    ) -> None:
        """Create the streams. All but the last are copied exactly once."""
        self.sources = [Stream(endpoint, shards=2) for _ in range(COPIES)]
        self.targets = [Target(Stream(endpoint, shards=2)) for _ in range(COPIES)]
        self.spark = spark
        self._folder = folder
        self._chance = chance
        self._checkpoints = checkpoints
        self._program = ExitStack()
        self.driver: subprocess.Popen[bytes]
        self.said: dict[str, Any]
        self.recoveries: dict[str, list[float]] = defaultdict(list)

    def start(self, endpoint: str) -> None:
        """Start the program, whose queries read by polling or by fan-out, and use an endpoint."""
        copies = [
            (source.name, target.stream.name, self._chance.choice(list(CONSUMERS)), self.is_once(n))
            for n, (source, target) in enumerate(zip(self.sources, self.targets, strict=True))
        ]
        (self._folder / "copies.json").write_text(json.dumps(copies))
        (self._folder / "stop").unlink(missing_ok=True)
        places = (self.spark.address, endpoint, self._checkpoints)
        program = application("copies", *places, folder=self._folder)
        self.driver = self._program.enter_context(program)

        def runs() -> bool:
            self.assert_running()
            return told_in(self._folder).exists()

        wait_for("the program runs", runs, PATIENCE_SECONDS)
        self.said = told(self._folder)

    def is_once(self, number: int) -> bool:
        """Whether a copy has to be exactly once."""
        return number < len(self.sources) - 1

    def stop(self) -> None:
        """Stop each query between two batches, and wait until the program has ended."""
        (self._folder / "stop").touch()
        status = self.driver.wait(300)
        self._program.close()
        if status:
            raise AssertionError(f"the program ended with {status}")

    def kill_driver(self) -> None:
        """Kill the program and its JVM, and wait until nothing of it is left."""
        for pid in self.said["pids"]:
            os.kill(pid, signal.SIGKILL)
        self.driver.wait()
        self._program.close()
        wait_for("its processes have ended", lambda: not of_session(self.driver.pid))
        wait_for("its executors have ended", lambda: not executors(self.said["application"]))

    def kill_executors(self, count: int) -> int:
        """Kill so many executors, or as many as run."""
        pids = sorted(executors(self.said["application"]).values())
        chosen = self._chance.sample(pids, min(count, len(pids)))
        for pid in chosen:
            os.kill(pid, signal.SIGKILL)
        return len(chosen)

    def kill_worker(self) -> None:
        """Kill a worker. Its executor ends with it. Another worker starts."""
        host = self._chance.choice(sorted(self.spark.workers))
        self.spark.workers[host].kill()
        self.spark.workers[host].wait()
        self.spark.start_worker(host)

    def reshard(self) -> None:
        """Split or merge shards of a source or a target."""
        stream = self._chance.choice([*self.sources, *(it.stream for it in self.targets)])
        if len(stream.open_shards()) < self._chance.choice((2, 4, 6)):
            stream.split()
        else:
            stream.merge()

    def await_rows(self, since: float) -> None:
        """Wait until each target has a new row, and remember the seconds since an event."""
        waiting = {number: target.count() for number, target in enumerate(self.targets)}

        def have_all() -> bool:
            for number, before in list(waiting.items()):
                if self.targets[number].count() > before:
                    del waiting[number]
                    kind = "exactly once" if self.is_once(number) else "at least once"
                    seconds = round(time.monotonic() - since, 2)
                    self.recoveries[f"first row after it, {kind}"].append(seconds)
            self.assert_running()
            return not waiting

        wait_for("each target has a new row", have_all, PATIENCE_SECONDS)

    def await_all(self) -> None:
        """Wait until each target has as many rows as its source, and none more is to come."""
        for source, target in zip(self.sources, self.targets, strict=True):

            def have_all(source: Stream = source, target: Target = target) -> bool:
                self.assert_running()
                target.count()
                rows = {row for rows in target.rows.values() for row in rows}
                return rows >= set(source.written)

            wait_for(f"every row of {target.stream.name}", have_all, PATIENCE_SECONDS)
        self.stop()
        for target in self.targets:
            target.count()

    def assert_running(self) -> None:
        """Check that no query has ended by itself."""
        if self.driver.poll() is not None:
            raise AssertionError(f"the program ended by itself, with {self.driver.returncode}")

    def close(self) -> None:
        """End the program, whatever it does, and delete the streams."""
        self._program.close()
        for stream in [*self.sources, *(it.stream for it in self.targets)]:
            stream.client.delete_stream(StreamName=stream.name, EnforceConsumerDeletion=True)

    def outcome(self, happened: Counter[str]) -> Outcome:
        """The verdict. At least once, a row may be there twice, and then in another order."""
        counts = Counter(happened)
        for number, (source, target) in enumerate(zip(self.sources, self.targets, strict=True)):
            found = target.verdict(source.written)
            if not self.is_once(number):
                found["twice (at least once)"] = found.pop("twice")
                found.pop("out of order")
            for name, count in found.items():  # also those that are 0
                counts[name] += count
        faults = [f"{counts[name]} {name}" for name in FAULTS if counts[name]]
        return Outcome(dict(counts), dict(self.recoveries), failure=", ".join(faults))
