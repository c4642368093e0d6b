"""The latest batches of a job, read from the table at most once per second."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import Any, Callable

from botocore.exceptions import BotoCoreError, ClientError

from log_processing.progress import Progress, from_json
from log_processing.query.failures import explain
from log_processing.table.keys import progress_keys

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
        self._known: dict[str, Progress] = {}
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
            self._known.update(self._new_batches())
        except (BotoCoreError, ClientError) as error:
            failure = explain(error, table=self.table)
        self._forget()
        return Reading(sorted(self._known.values(), key=lambda it: (it.time, it.batch)), failure)

    def _new_batches(self) -> dict[str, Progress]:
        """The newest batches, by sort key. The last known one is among them: it may be repeated."""
        partition, _ = progress_keys(self.job, 0)
        condition, values = "pk = :pk", {":pk": {"S": partition}}
        if self._known:
            condition += " AND sk >= :last"
            values[":last"] = {"S": max(self._known)}
        answer = self._client.query(
            TableName=self.table,
            KeyConditionExpression=condition,
            ExpressionAttributeValues=values,
            ScanIndexForward=False,
            Limit=MOST_BATCHES,
        )
        return {item["sk"]["S"]: from_json(item["progress"]["S"]) for item in answer["Items"]}

    def _forget(self) -> None:
        """Keep the batches that the page shows, and the newest one."""
        start_ms = (self._clock() - SHOWN_SECONDS) * 1000
        newest = max(self._known, default="")
        self._known = {
            key: batch
            for key, batch in self._known.items()
            if batch.time >= start_ms or key == newest
        }
