"""Requests to Kinesis, and what was refused sent again."""

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


class Unanswered(Exception):
    """A whole request failed and may be sent again; the message is the service's."""


@dataclass(slots=True)
class Tally:
    """What became of the records so far.

    Attributes:
        written: records that Kinesis acknowledged.
        throttled: times that one was refused for the throughput of its shard.
        retried: times that one was sent again, for whatever reason.
        bytes: of data written.
    """

    written: int = 0
    throttled: int = 0
    retried: int = 0
    bytes: int = 0


class Writer:
    """Writes each request until all of it is written, so that a key's records keep their order.

    Only records that share a key *and* a request may change places, when one was refused.

    Args:
        stream: its name, for messages.
        send: one request; for each entry ``None``, or the error by which it was refused.
        patience: seconds after which an unwritten record is an error.
        now: a clock, in seconds.
        sleep: waits so many.
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
        """Nothing written yet."""
        self.tally = Tally()
        self._stream = stream
        self._send = send
        self._patience = patience
        self._now = now
        self._sleep = sleep
        self._chance = random.Random()  # noqa: S311 jitter only

    def write(self, entries: Sequence[Entry]) -> None:
        """Return when all are written.

        Raises:
            GeneratorError: when some are not within the time.
        """
        left, attempt, until = list(entries), 0, self._now() + self._patience
        while True:
            left, why = self._attempt(left)
            if not left:
                return
            if self._now() >= until:
                raise GeneratorError(
                    f"stream {self._stream}: {len(left)} records were not written within "
                    f"{self._patience:.0f} s, the last refused with {why}"
                )
            self._sleep(pause(attempt, self._chance.random))
            self.tally.retried += len(left)
            attempt += 1

    def _attempt(self, entries: list[Entry]) -> tuple[list[Entry], str]:
        """Send; what is left, and why."""
        request = [{"PartitionKey": key, "Data": data} for key, data in entries]
        try:
            errors = self._send(request)
        except Unanswered as error:
            self.tally.throttled += len(entries) if THROTTLED in str(error) else 0
            return entries, str(error)
        pairs = list(zip(entries, errors, strict=True))
        self.tally.written += sum(error is None for error in errors)
        self.tally.bytes += sum(len(data) for (_, data), error in pairs if error is None)
        self.tally.throttled += errors.count(THROTTLED)
        refused = [(entry, error) for entry, error in pairs if error is not None]
        return [entry for entry, _ in refused], refused[-1][1] if refused else ""
