"""Publishes entries with ``PutEvents``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from log_processing.delivery.retry import Answer, Times, deliver

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .entries import Entry


@dataclass(frozen=True)
class Publisher:
    """Publishes to a bus.

    Attributes:
        client: EventBridge client of boto3, which makes no retries itself.
        bus: name of the bus.
        timeout: seconds to repeat a request.
        times: clock of the retries.
    """

    client: Any
    bus: str
    timeout: float
    times: Times

    def publish(self, entries: Sequence[Entry]) -> int:
        """Publish the entries of one request, each at least once.

        Returns:
            The number of entries.

        Raises:
            NotDeliveredError: if EventBridge does not accept them in time, or refuses them.
        """
        deliver(
            entries,
            self._send,
            f"bus '{self.bus}'",
            kind="alerts",
            timeout=self.timeout,
            times=self.times,
        )
        return len(entries)

    def _send(self, entries: Sequence[Entry]) -> Answer[Entry]:
        request = [entry.request(self.bus) for entry in entries]
        answer = self.client.put_events(Entries=request)
        if not answer.get("FailedEntryCount"):
            return Answer(())
        results = answer.get("Entries", [])
        failed = [
            (entry, result)
            for entry, result in zip(entries, results)
            if result.get("ErrorCode") is not None
        ]
        if len(results) != len(entries) or not failed:  # not an answer to this request
            return Answer(entries, "an incomplete answer")
        last = failed[-1][1]
        reason = f"{last['ErrorCode']}: {last.get('ErrorMessage')}"
        return Answer([entry for entry, _ in failed], reason)
