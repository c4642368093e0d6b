"""Writes to Kinesis, with retries of what was refused."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from spark_kinesis._backoff import pause
from spark_kinesis._errors import GeneratorError

Entry = tuple[str, bytes]
Send = Callable[[list[dict[str, Any]]], Sequence[str | None]]

THROTTLED = "ProvisionedThroughputExceededException"


class RequestFailedError(GeneratorError):
    """A whole request failed, and may succeed later. The message is that of the service."""


@dataclass(slots=True)
class Tally:
    """Counts so far.

    Attributes:
        written: number of records that Kinesis acknowledged.
        throttled: number of times that a record was refused because of its shard's throughput.
        retried: number of times that a record was sent again.
        bytes: number of bytes of data written.
    """

    written: int = 0
    throttled: int = 0
    retried: int = 0
    bytes: int = 0


class Writer:
    """Writes each request completely before the next, so that the records of a key stay in order.

    Only records of one key in one request may change their order, if one of them was refused.

    Args:
        stream: name of the stream, for messages.
        send: sends a request. Returns ``None`` or the error code for each entry.
        patience: maximum number of seconds to retry a record.
        now: returns seconds of a monotonic clock.
        sleep: waits for a number of seconds.
    """

    def __init__(
        self,
        *,
        stream: str,
        send: Send,
        patience: float,
        now: Callable[[], float],
        sleep: Callable[[float], None],
    ) -> None:
        """Writes nothing yet."""
        self.tally = Tally()
        self._stream = stream
        self._send = send
        self._patience = patience
        self._now = now
        self._sleep = sleep
        self._chance = random.Random()  # noqa: S311 jitter only

    def write(self, entries: Sequence[Entry]) -> None:
        """Write records, and return when Kinesis has acknowledged all.

        Raises:
            GeneratorError: if some records are not written in time, or a request fails for good.
        """
        left, attempt, until = list(entries), 0, self._now() + self._patience
        while True:
            left, why = self._attempt(left)
            if not left:
                return
            if self._now() >= until:
                raise GeneratorError(
                    f"stream {self._stream}: {len(left)} records were not written within "
                    f"{self._patience:.0f} s. The last error was {why}"
                )
            self._sleep(pause(attempt, self._chance.random))
            self.tally.retried += len(left)
            attempt += 1

    def _attempt(self, entries: list[Entry]) -> tuple[list[Entry], str]:
        """Send records. Returns those that were not written, and the last error."""
        request = [{"PartitionKey": key, "Data": data} for key, data in entries]
        try:
            errors = self._send(request)
        except RequestFailedError as error:
            self.tally.throttled += len(entries) if THROTTLED in str(error) else 0
            return entries, str(error)
        pairs = list(zip(entries, errors, strict=True))
        self.tally.written += sum(error is None for error in errors)
        self.tally.bytes += sum(len(data) for (_, data), error in pairs if error is None)
        self.tally.throttled += errors.count(THROTTLED)
        refused = [(entry, error) for entry, error in pairs if error is not None]
        return [entry for entry, _ in refused], refused[-1][1] if refused else ""
