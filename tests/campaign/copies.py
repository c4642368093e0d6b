"""Streams that are copied by a Spark cluster while things fail, and the verdict about each copy.

A copy is judged with boto3 and `aws_kinesis_agg`, which know nothing of the connector.
"""

from __future__ import annotations

import json
import operator
import os
import random
import signal
import time
from collections import Counter, defaultdict
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from tests.campaign.proxy import Proxy
from tests.campaign.rounds import Outcome, Play
from tests.e2e.apps.cluster_queries import load, repeated
from tests.e2e.support.kpl import deaggregated
from tests.e2e.support.processes import executors, of_session
from tests.e2e.support.programs import application, told, told_in
from tests.e2e.support.standalone import Standalone, cluster
from tests.e2e.support.streams import CONSUMERS, KEYS, Stream, Written, local_kinesis, wait_for

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

COPIES = 4
FAULTS = ("lost", "foreign", "twice", "out of order")
PATIENCE_SECONDS = 900.0  # a repeated task waits for 75 s before it reads back, maybe again
RECOVERY = "time from an event until each key has a new row"


@contextmanager
def copying(
    cause: Callable[[Proxy, str, Copies], None], kinds: Sequence[str], events: int
) -> Iterator[Play]:
    """Start a local Kinesis, and a proxy in front of it, for rounds of so many random events."""
    with local_kinesis() as kinesis, Proxy(kinesis.endpoint).running() as proxy:

        def play(seed: int, folder: Path) -> Outcome:
            addresses = (kinesis.endpoint, proxy.endpoint, str(folder))
            chosen = random.Random(seed).choices(kinds, k=events)
            return copied(addresses, partial(cause, proxy), chosen, seed, folder)

        yield play


def copied(
    addresses: tuple[str, str, str],
    cause: Callable[[str, Copies], None],
    kinds: list[str],
    seed: int,
    folder: Path,
    *,
    has_state: bool = False,
) -> Outcome:
    """Copy streams under load through an event of each of these kinds, and count what arrived.

    What has not arrived when the patience ends counts as lost.

    Args:
        addresses: of the local Kinesis for the test and for the program, and of the checkpoints.
        cause: causes an event of a kind.
        kinds: of the events, in their order.
        seed: chooses how to read, and the details of each event.
        folder: for logs. It may have a file `spark.json` with more of Spark's settings, and a
            file `options.json` with more options of all sources and sinks.
        has_state: whether some rows of the first copy are written twice, and the query drops them.
    """
    failure = ""
    with (
        cluster(folder, cores=8) as spark,
        closing(Copies(addresses, spark, folder, seed, has_state=has_state)) as it,
    ):
        try:
            with ExitStack() as writers:
                for source in it.sources:
                    writers.enter_context(load(source, pause_seconds=0.5))
                if has_state:
                    again = partial(write_again, it.sources[0])
                    writers.enter_context(repeated(again, pause_seconds=1))
                it.start()
                it.await_recovery()
                it.recoveries.clear()  # a start is no recovery
                for number, kind in enumerate(kinds):
                    it.chance = random.Random(f"{seed} {number}")
                    it.happened[kind] += 1
                    it.mark()
                    cause(kind, it)
            it.await_all()
            it.stop()
        except TimeoutError as error:
            failure = str(error)
            it.end()
        return it.outcome(failure)


def write_again(source: Stream) -> None:
    """Write some rows of a stream again."""
    for it in random.sample(source.written, min(3, len(source.written))):
        source.send([it])


class Target:
    """The rows of a target, read to its tip again and again."""

    def __init__(self, stream: Stream) -> None:
        """Read from the trim horizon."""
        self.stream = stream
        self.rows: dict[str, list[Written]] = defaultdict(list)  # by shard
        self._iterators: dict[str, str | None] = {}
        self._last: dict[str, str] = {}  # sequence number, by shard

    def read(self) -> set[Written]:
        """Read what is new, and return all rows so far."""
        for shard in (it["ShardId"] for it in self.stream.all_shards()):
            if shard not in self._iterators:
                self._iterators[shard] = self._iterator(shard)
            while iterator := self._iterators[shard]:
                try:
                    page = self.stream.client.get_records(ShardIterator=iterator)
                except self.stream.client.exceptions.ExpiredIteratorException:
                    self._iterators[shard] = self._iterator(shard)
                    continue
                self._iterators[shard] = page.get("NextShardIterator")
                if records := page["Records"]:
                    self.rows[shard] += [
                        Written(key, json.loads(data)["n"]) for key, data in deaggregated(records)
                    ]
                    self._last[shard] = records[-1]["SequenceNumber"]
                elif page["MillisBehindLatest"] == 0:
                    break
        return {row for rows in self.rows.values() for row in rows}

    def _iterator(self, shard: str) -> str:
        start = {"ShardIteratorType": "TRIM_HORIZON"}
        if shard in self._last:
            start = {
                "ShardIteratorType": "AFTER_SEQUENCE_NUMBER",
                "StartingSequenceNumber": self._last[shard],
            }
        return str(
            self.stream.client.get_shard_iterator(
                StreamName=self.stream.name, ShardId=shard, **start
            )["ShardIterator"]
        )

    def verdict(self, written: list[Written]) -> dict[str, int]:
        """The number of rows lost, repeated, and behind a later one of their key.

        The shards that a split makes have no order between them: a row is compared with those of
        its own shard and of the shard's ancestors.
        """
        seen = Counter(row for rows in self.rows.values() for row in rows)
        numbers: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
        for shard, rows in self.rows.items():
            for row in rows:
                numbers[shard][row.key].append(row.n)
        ancestors: dict[str, set[str]] = {}
        disordered = 0
        for it in sorted(self.stream.all_shards(), key=lambda it: str(it["ShardId"])):
            shard = it["ShardId"]
            parents = {it.get("ParentShardId", ""), it.get("AdjacentParentShardId", "")} - {""}
            ancestors[shard] = parents.union(*(ancestors[name] for name in parents))
            for key, ns in numbers[shard].items():
                before = (numbers[it][key] for it in ancestors[shard])
                disordered += sum(b < a for a, b in pairwise(ns))
                disordered += sum(min(ns) < max(it, default=-1) for it in before)
        return {
            "rows": len(written),
            "lost": len(set(written) - set(seen)),
            "foreign": len(set(seen) - set(written)),
            "twice": sum(seen.values()) - len(seen),
            "out of order": disordered,
        }


class Copies:
    """Streams that are copied, and the program that copies them, which is killed and restarted."""

    def __init__(
        self,
        addresses: tuple[str, str, str],
        spark: Standalone,
        folder: Path,
        seed: int,
        *,
        has_state: bool,
    ) -> None:
        """Create the streams. All but the last are copied exactly once."""
        endpoint, *self._addresses = addresses
        self.sources = [Stream(endpoint, shards=2) for _ in range(COPIES)]
        self.targets = [Target(Stream(endpoint, shards=2)) for _ in range(COPIES)]
        self.chance = random.Random(seed)
        self.happened: Counter[str] = Counter()
        self.recoveries: dict[str, list[float]] = defaultdict(list)
        self._consumers: list[str] = []
        self._spark = spark
        self._has_state = has_state
        self._folder = folder
        self._program = ExitStack()
        self._driver: subprocess.Popen[bytes]
        self._said: dict[str, Any]
        self.mark()

    def start(self) -> None:
        """Start the program. Half of its queries read by polling, and half by fan-out."""
        consumers = self.chance.sample([*CONSUMERS] * (COPIES // len(CONSUMERS)), COPIES)
        if self._consumers:
            changes = sum(map(operator.ne, consumers, self._consumers))
            self.happened["changes of a consumer"] += changes
        self._consumers = consumers
        copies = [
            (source.name, target.stream.name, consumers[n], self.is_once(n), self._drops(n))
            for n, (source, target) in enumerate(zip(self.sources, self.targets, strict=True))
        ]
        (self._folder / "copies.json").write_text(json.dumps(copies))
        (self._folder / "stop").unlink(missing_ok=True)
        program = application("copies", self._spark.address, *self._addresses, folder=self._folder)
        self._driver = self._program.enter_context(program)

        def runs() -> bool:
            self._assert_running()
            return told_in(self._folder).exists()

        wait_for("the program runs", runs, PATIENCE_SECONDS)
        self._said = told(self._folder)

    def _drops(self, number: int) -> bool:
        """Whether a copy drops rows that were written twice."""
        return self._has_state and number == 0

    def is_once(self, number: int) -> bool:
        """Whether a copy has to be exactly once."""
        return number < len(self.sources) - 1

    def stop(self) -> None:
        """Stop each query between two batches, and wait until the program has ended."""
        (self._folder / "stop").touch()
        wait_for("the program stops", lambda: self._driver.poll() is not None, PATIENCE_SECONDS)
        self.end()
        if status := self._driver.returncode:
            raise AssertionError(f"the program ended with {status}")

    def end(self) -> None:
        """End the program, whatever it does."""
        self._program.close()

    def kill_driver(self) -> None:
        """Kill the program and its JVM, and wait until nothing of it is left."""
        kill(self._said["pids"])
        self._driver.wait()
        self.end()
        wait_for("its processes have ended", lambda: not of_session(self._driver.pid))
        wait_for("its executors have ended", lambda: not executors(self._said["application"]))

    def kill_executors(self, count: int) -> int:
        """Kill so many executors, or as many as run."""
        pids = sorted(executors(self._said["application"]).values())
        chosen = self.chance.sample(pids, min(count, len(pids)))
        kill(chosen)
        return len(chosen)

    def kill_worker(self) -> None:
        """Kill a worker. Its executor ends with it. Another worker starts."""
        self._spark.restart_worker(self.chance.choice(sorted(self._spark.workers)))

    def restart_master(self) -> None:
        """Kill the master of the cluster, then its workers. The executors live until then.

        A worker that lives may register twice with the new master. Then Spark loses its cores.
        """
        self._spark.restart_master()
        for host in list(self._spark.workers):
            self._spark.restart_worker(host)

    def reshard(self) -> None:
        """Split or merge shards of a source or a target."""
        stream = self.chance.choice([*self.sources, *(it.stream for it in self.targets)])
        if len(stream.open_shards()) < self.chance.choice((2, 4, 6)):
            stream.split()
        else:
            stream.merge()

    def mark(self) -> None:
        """Measure the next recovery from now on."""
        self._since = time.monotonic()
        self._marks = [len(it.written) for it in self.sources]

    def await_recovery(self, seconds: float = PATIENCE_SECONDS) -> None:
        """Wait for some time until each target has a row of each key written after the mark.

        All shards have these keys, so that what a surviving executor writes is not enough.
        """
        waiting = set(range(COPIES))

        def have_all() -> bool:
            self._assert_running()
            for number in list(waiting):
                first = self._marks[number]
                next_ones = self.sources[number].written[first : first + len(KEYS)]
                if len(next_ones) == len(KEYS) and self.targets[number].read() >= set(next_ones):
                    waiting.remove(number)
                    kind = "exactly once" if self.is_once(number) else "at least once"
                    took = round(time.monotonic() - self._since, 2)
                    self.recoveries[f"{RECOVERY}, {kind}"].append(took)
            return not waiting

        wait_for("each target has new rows", have_all, seconds)

    def await_all(self) -> None:
        """Wait until each target has the rows of its source."""
        for source, target in zip(self.sources, self.targets, strict=True):

            def have_all(source: Stream = source, target: Target = target) -> bool:
                self._assert_running()
                return target.read() >= set(source.written)

            wait_for(f"every row of {target.stream.name}", have_all, PATIENCE_SECONDS)

    def _assert_running(self) -> None:
        if self._driver.poll() is not None:
            raise AssertionError(f"the program ended by itself, with {self._driver.returncode}")

    def close(self) -> None:
        """End the program, and delete the streams."""
        self.end()
        for stream in [*self.sources, *(it.stream for it in self.targets)]:
            stream.client.delete_stream(StreamName=stream.name, EnforceConsumerDeletion=True)

    def outcome(self, failure: str) -> Outcome:
        """The verdict. At least once, a row may be there twice, and then in another order."""
        counts = Counter(self.happened)
        for number, (source, target) in enumerate(zip(self.sources, self.targets, strict=True)):
            target.read()
            found = target.verdict(source.written)
            if not self.is_once(number):
                found["twice in the copy with at-least-once delivery"] = found.pop("twice")
                found.pop("out of order")
            for name, count in found.items():  # also those that are 0
                counts[name] += count
        faults = [f"{counts[name]} {name}" for name in FAULTS if counts[name]]
        failure = ", ".join(filter(None, [failure, *faults]))
        return Outcome(dict(counts), dict(self.recoveries), failure=failure)


def kill(pids: list[int]) -> None:
    """Kill processes. Some may have just ended."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
