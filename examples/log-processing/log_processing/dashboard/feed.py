"""The latest batches of a job, read from the table at most once per second."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import Any, Callable

from botocore.exceptions import BotoCoreError, ClientError

from log_processing.progress import KnownBatches, Progress, batches_in, batches_request
from log_processing.query.failures import explain

from .rates import SHOWN_SECONDS

PAUSE_SECONDS = 1.0
MOST_BATCHES = 300


@dataclass(frozen=True)
class Reading:
    """What is known about a job.

    Attributes:
        batches: sorted by time.
        failure: why the table could not be read just now. The batches are those known before.
    """

    batches: list[Progress]
    failure: str | None = None


class BatchFeed:
    """Reads the batches of one job. Any number of viewers may share one feed."""

    def __init__(
        self,
        client: Any,
        *,
        table: str,
        job: str,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Read nothing yet.

        Args:
            client: boto3 client of DynamoDB.
            table: name of the table.
            job: name of the job's query.
            clock: returns seconds since 1970.
        """
        self.table, self.job = table, job
        self._client, self._clock = client, clock
        self._lock = threading.Lock()
        self._known = KnownBatches()
        self._reading = Reading([])
        self._next_time = 0.0

    def read(self) -> Reading:
        """The known batches. The table is read if that was not done in the last second."""
        with self._lock:
            if self._clock() >= self._next_time:
                self._reading = self._read_table()
                self._next_time = self._clock() + PAUSE_SECONDS
            return self._reading

    def _read_table(self) -> Reading:
        failure = None
        try:
            self._known.add(self._new_batches())
        except (BotoCoreError, ClientError) as error:
            failure = explain(error, table=self.table)
        self._known.forget_before(int((self._clock() - SHOWN_SECONDS) * 1000))
        return Reading(self._known.in_order, failure)

    def _new_batches(self) -> list[Progress]:
        """The newest batches, and again those that ended shortly before the newest known one."""
        request = batches_request(self.table, self.job, self._known.read_from_ms)
        return batches_in(self._client.query(**request, ScanIndexForward=False, Limit=MOST_BATCHES))
