"""The servers, the job and the load of a trial, and what they have done so far."""

from __future__ import annotations

import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Callable

from log_processing.delivery.clients import client
from spark_kinesis.local import LocalKinesis

from . import ledger, resources
from .batches import Batches
from .program import ProgramError
from .running_job import RunningJob
from .screen import Screen
from .servers import start_dynamodb, start_moto
from .traffic import Traffic
from .verdict import Verdict, compare

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator
    from pathlib import Path


STREAM, NAME = "app-logs", "logs"
FRAME_SECONDS = 0.2
CAUGHT_UP_SECONDS = 3.0  # of load


@dataclass(frozen=True)
class Endpoints:
    """URLs of the servers."""

    kinesis: str
    dynamodb: str
    events: str


@dataclass(frozen=True)
class Stack:
    """The servers, with the streams, the table and the bus."""

    kinesis: LocalKinesis
    endpoints: Endpoints
    folder: Path
    screen: Screen


@contextmanager
def servers(folder: Path) -> Iterator[Stack]:
    """Start the servers, and stop them at the end.

    Args:
        folder: folder for logs, and for all that the job writes to files.
    """
    screen = Screen()
    with ExitStack() as stack:
        kinesis = stack.enter_context(LocalKinesis(streams={STREAM: 2}))
        moto, events = start_moto(folder)
        stack.callback(moto.stop)
        try:
            program, dynamodb = start_dynamodb(folder)
            stack.callback(program.stop)
        except ProgramError as error:
            screen.log(f"DynamoDB Local does not run here. moto takes its place, slowly. {error}")
            dynamodb = events
        resources.create_table(client("dynamodb", resources.REGION, dynamodb))
        resources.create_bus(events)
        endpoints = Endpoints(kinesis.endpoint, dynamodb, events)
        yield Stack(kinesis, endpoints, folder, screen)


class Trial:
    """A job under load.

    Args:
        stack: the servers, as the trial itself uses them.
        reached: the URLs that the job uses.
        rate: events per second.
        chance: chooses what to kill.
    """

    def __init__(
        self,
        stack: Stack,
        reached: Endpoints,
        rate: float,
        chance: random.Random,
    ) -> None:
        """Start nothing yet."""
        self.kinesis, self._endpoints = stack.kinesis, stack.endpoints
        self.screen, self._folder, self._rate = stack.screen, stack.folder, rate
        self._bad = stack.folder / "bad"
        options = {
            "streams": STREAM,
            "table": resources.TABLE,
            "bus": resources.BUS,
            "name": NAME,
            "checkpoint": str(stack.folder / "checkpoint"),
            "bad-events": str(self._bad),
            "kinesis-endpoint": reached.kinesis,
            "dynamodb-endpoint": reached.dynamodb,
            "events-endpoint": reached.events,
        }
        self.job = RunningJob(options, stack.folder, chance)
        dynamodb = client("dynamodb", resources.REGION, stack.endpoints.dynamodb, attempts=3)
        self.batches = Batches(dynamodb, resources.TABLE, NAME)
        self._traffic: Traffic | None = None

    def begin_load(self) -> None:
        """Start to write events."""
        self._traffic = Traffic(self.kinesis, STREAM, self._rate, self._folder)

    def end_load(self) -> None:
        """Stop to write events, if they are written."""
        if self._traffic is not None:
            traffic, self._traffic = self._traffic, None
            traffic.stop()

    @property
    def records_put(self) -> int:
        """The number of records in the stream."""
        return self.kinesis.stats().records_put

    @property
    def is_caught_up(self) -> bool:
        """Whether the job has processed almost all records."""
        done = self.batches.records
        return done > 0 and self.records_put - done < self._rate * CAUGHT_UP_SECONDS

    @property
    def is_drained(self) -> bool:
        """Whether the job has processed all records."""
        return self.batches.records >= self.records_put

    def kill_worker(self) -> bool:
        """Kill a Python worker, if there is one now."""
        return self.job.kill_worker() is not None

    def watch(self, seconds: float) -> None:
        """Show progress for some seconds."""
        self._watch(lambda: False, seconds)

    def watch_until(self, what: str, condition: Callable[[], bool], seconds: float) -> None:
        """Show progress until a condition holds.

        Raises:
            ProgramError: if it does not hold in time.
        """
        if not self._watch(condition, seconds):
            done = f"{self.batches.records} of {self.records_put} records are processed"
            raise ProgramError(f"not within {seconds:g} s: {what}. {done}.")

    def _watch(self, condition: Callable[[], bool], seconds: float) -> bool:
        until = time.monotonic() + seconds
        while True:
            self.job.check()
            if self._traffic is not None:
                self._traffic.check()
            self.batches.read()
            self.screen.show(self.records_put, self.batches)
            if condition():
                return True
            if time.monotonic() >= until:
                return False
            time.sleep(FRAME_SECONDS)

    def compare(self) -> tuple[Verdict, list[ledger.StoredItem], int]:
        """Compare the ledgers. Returns the verdict, all items, and the number of alerts."""
        items = [ledger.stored_item(it) for it in resources.stored_items(self._endpoints.dynamodb)]
        details = resources.published_details(self._endpoints.events)
        alerts = [ledger.event_id(detail["context"]) for detail in details]
        put = ledger.put(self.kinesis.records(STREAM))
        verdict = compare(put, [item.id for item in items], alerts, ledger.kept(self._bad))
        return verdict, items, len(alerts)

    def close(self) -> None:
        """Stop the load, and kill the job if it runs."""
        try:
            self.end_load()
        finally:
            self.job.close()
