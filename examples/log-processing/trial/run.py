"""The job under load, to be killed and started again."""

from __future__ import annotations

import gzip
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

from log_processing.dashboard import batches
from log_processing.sending import client
from log_processing.table import now_ms

from .oracle import Balance, Place, compare, expected, kept_in, place_of
from .services import BUS, STREAM, TABLE, Program, TrialError, published, stored

if TYPE_CHECKING:
    from collections.abc import Callable

    from .services import Services

EVENTS = f"{Path(__file__).with_name('load.py')}:event"
UNDATED = '{"timestamp": "yesterday", "level": "INFO", "service": "mail", "message": "no time"}'
# A task whose Python worker was killed runs again, as on a cluster.
SPARK = "--master local[2,8] --conf spark.driver.memory=1g --conf spark.ui.enabled=false"
# In a run of a minute, a second compiler and more threads for garbage cost more than they gain.
JAVA = '--driver-java-options "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xss16m" pyspark-shell'
PAYLOAD_SECONDS, FRAME_SECONDS, LINE_SECONDS, CAUGHT_UP_SECONDS = 0.5, 0.2, 4.0, 3.0


class Trial:
    """A job, its load, and what they have done so far.

    Args:
        services: the servers.
        rate: events per second.
        chance: chooses what to kill.
        reached: URLs of DynamoDB and EventBridge for the job. Default: those of the servers.
    """

    def __init__(
        self,
        services: Services,
        rate: float,
        chance: random.Random,
        reached: tuple[str, str] | None = None,
    ) -> None:
        """Start nothing yet."""
        self.services, self._rate, self._chance = services, rate, chance
        self._begun, self._shown, self._starts = time.monotonic(), 0.0, 0
        dynamodb, events = reached or (services.dynamodb, services.events)
        (services.folder / "up").mkdir()
        self._files = services.folder / "files"
        self._files.symlink_to("up")
        self._options = [
            *("--stream", STREAM, "--table", TABLE, "--bus", BUS, "--write-timeout", "5"),
            *("--checkpoint", f"{self._files}/checkpoint", "--bad-events", f"{self._files}/bad"),
            *("--kinesis-endpoint", services.kinesis.endpoint),
            *("--dynamodb-endpoint", dynamodb, "--events-endpoint", events),
        ]
        self._table = client("dynamodb", None, services.dynamodb, attempts=3)
        self._job: Program | None = None
        self._load: Program | None = None
        self._others = threading.Thread(target=self._put_others, daemon=True)
        self._ended = threading.Event()

    def log(self, text: str) -> None:
        """Print a line with the seconds since the start."""
        print(f"{time.monotonic() - self._begun:6.1f} s  {text}", flush=True)

    def begin_load(self) -> None:
        """Begin to write events, bad events, and payloads of CloudWatch Logs."""
        words = [sys.executable, "-m", "spark_kinesis", "generate", "--stream", STREAM]
        words += ["--endpoint", self.services.kinesis.endpoint, "--rate", f"{self._rate:g}"]
        words += ["--records", EVENTS]
        self._load = Program("the generator", words, self.services.folder)
        self._others.start()

    def end_load(self) -> None:
        """Stop writing. When it returns, all requests have ended."""
        self._ended.set()
        if self._load is not None:
            load, self._load = self._load, None
            load.stop(signal.SIGINT)  # its planned end
            self._others.join()

    def _put_others(self) -> None:
        while not self._ended.wait(PAYLOAD_SECONDS):
            name = str(uuid.uuid4())
            self.services.kinesis.put(STREAM, [(name, payload()), (name, UNDATED)])

    def start_job(self, *options: str) -> None:
        """Start the job, with more options."""
        self._starts += 1
        words = [sys.executable, "-m", "log_processing.job", *self._options, *options]
        self._job = Program(
            f"job {self._starts}",
            words,
            self.services.folder,
            PYSPARK_SUBMIT_ARGS=f"{SPARK} --conf spark.ui.showConsoleProgress=false {JAVA}",
            PYSPARK_PYTHON=sys.executable,
            SPARK_LOCAL_IP="127.0.0.1",
        )

    @property
    def job(self) -> Program:
        """The program of the job."""
        if self._job is None:
            raise TrialError("the job does not run")
        return self._job

    def kill_driver(self) -> None:
        """Kill all processes of the job: driver, Java and Python workers."""
        below = processes_below(self.job.process.pid)
        self.job.kill()
        for pid, _ in below:  # workers have groups of their own
            _kill(pid)

    def kill_worker(self) -> bool:
        """Kill a Python worker, if there is one now."""
        found = processes_below(self.job.process.pid)
        daemons = {pid for pid, command in found if "pyspark.daemon" in command}
        workers = [pid for daemon in daemons for pid, _ in processes_below(daemon)]
        return bool(workers) and _kill(self._chance.choice(workers))

    def outage_of_files(self, *, ends: bool = False) -> None:
        """Let each access to checkpoint and bad events fail, as in an outage of S3, or end this."""
        away = self.services.folder / "away"
        away.touch()  # nothing can be below a file
        link = self.services.folder / "link"
        link.symlink_to("up" if ends else "away")
        link.replace(self._files)

    @property
    def processed(self) -> int:
        """The number of Kinesis records in all micro-batches that stored."""
        found = batches(self._table, TABLE, "logs")
        return int(sum(batch["records"] for batch in found))

    @property
    def put(self) -> int:
        """The number of Kinesis records in the stream."""
        return self.services.kinesis.stats().records_put

    @property
    def is_caught_up(self) -> bool:
        """Whether the job has stored almost all records."""
        return self.processed > self.put - self._rate * CAUGHT_UP_SECONDS

    def watch(self, seconds: float) -> None:
        """Show progress for some seconds."""
        self._watch(lambda: False, seconds)

    def watch_until(self, what: str, condition: Callable[[], bool], seconds: float = 120) -> None:
        """Show progress until a condition holds. Raises ``TrialError`` if it does not in time."""
        if not self._watch(condition, seconds):
            raise TrialError(f"not within {seconds:g} s: {what}. See {self.job.log}")

    def _watch(self, condition: Callable[[], bool], seconds: float) -> bool:
        until = time.monotonic() + seconds
        while not condition():
            for program in filter(None, (self._job, self._load)):
                program.check()
            now = time.monotonic()
            if now >= until:
                return False
            if now >= self._shown + LINE_SECONDS:
                self._shown = now
                self.log(f"  records {self.put}, processed {self.processed}")
            time.sleep(FRAME_SECONDS)
        return True

    def finish(self) -> int:
        """End the load, let the job do the rest, and stop it. Returns its exit code."""
        self.end_load()
        self.watch_until("all records are stored", lambda: self.processed >= self.put)
        alerts = expected(self.services.kinesis.records(STREAM), STREAM).alerts
        self.watch_until("all alerts are published", lambda: alerts <= self.published)
        return self.job.stop()

    @property
    def published(self) -> set[Place]:
        """The places of the events whose alerts arrived."""
        return {place_of(detail) for detail in published(self.services.events)}

    def balance(self) -> Balance:
        """Compare the records of the stream with table, alerts and bad events."""
        should = expected(self.services.kinesis.records(STREAM), STREAM)
        keys = [(it["pk"]["S"], it["sk"]["S"]) for it in stored(self.services.dynamodb)]
        return compare(should, keys, self.published, kept_in(self._files / "bad"))

    def close(self) -> None:
        """End the load, and kill the job if it runs."""
        self._ended.set()
        if self._load is not None:
            self._load.kill()
        if self._job is not None:
            self.kill_driver()


def payload() -> bytes:
    """A payload of CloudWatch Logs, with an event that has no time between good ones."""
    event = {"level": "warn", "service": "billing", "message": "slow"}
    messages = ["INFO a line", json.dumps(event), "FATAL cannot write", "no time", "INFO the end"]
    entries: list[dict[str, Any]] = [
        {"id": str(uuid.uuid4()), "timestamp": now_ms(), "message": message} for message in messages
    ]
    del entries[3]["timestamp"]
    names = {"messageType": "DATA_MESSAGE", "logGroup": "/aws/lambda/invoices", "logStream": "s"}
    return gzip.compress(json.dumps({**names, "logEvents": entries}).encode())


def processes_below(root: int) -> list[tuple[int, str]]:
    """ID and command of all processes that a process has started, and those that they have."""
    words = ["ps", "-A", "-o", "pid=,ppid=,args="]
    output = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in output.splitlines()]
    known = [(int(row[0]), int(row[1]), row[2]) for row in rows if len(row) > 2]  # noqa: PLR2004
    found: list[tuple[int, str]] = []
    parents = {root}
    while parents:
        children = [(pid, command) for pid, parent, command in known if parent in parents]
        found += children
        parents = {pid for pid, _ in children}
    return found


def _kill(pid: int) -> bool:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False  # it has just ended
    return True
