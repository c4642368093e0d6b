"""Publishes entries with ``PutEvents``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Callable

from log_processing.delivery.refusals import Refusal, deliver_valid
from log_processing.delivery.retry import Answer, deliver

if TYPE_CHECKING:
    from collections.abc import Sequence

    from log_processing.delivery.clock import Clock

    from .entries import Entry

# The codes with which EventBridge refuses an entry each time, as AWS documents them for
# PutEventsResultEntry. It may accept an entry with any other code later.
_REFUSES_THE_JOB = frozenset(
    {
        "AccessDeniedException",
        "InvalidAccountIdException",
        "NotAuthorizedForDetailTypeException",
        "NotAuthorizedForSourceException",
    }
)
_REFUSES_THE_ENTRY = frozenset({"InvalidArgument", "MalformedDetail", "RedactionFailure"})


@dataclass(frozen=True)
class Publisher:
    """Publishes to a bus.

    Attributes:
        client: EventBridge client of boto3, which makes no retries itself.
        bus: name of the bus.
        timeout: seconds to repeat a request.
        clock: time and random numbers of the retries.
    """

    client: Any
    bus: str
    timeout: float
    clock: Clock

    def publish(self, entries: Sequence[Entry]) -> list[Refusal[Entry]]:
        """Publish the entries of one request, each at least once.

        Returns:
            The entries that EventBridge refuses each time.

        Raises:
            NotDeliveredError: if EventBridge does not accept them in time, or refuses the job.
        """
        refused: list[Refusal[Entry]] = []
        send = partial(self._send, refused)
        refused += deliver_valid(entries, partial(self._deliver, send))
        # An entry that was sent again alone may have been refused twice.
        return list({id(refusal.entry): refusal for refusal in refused}.values())

    def _deliver(
        self, send: Callable[[Sequence[Entry]], Answer[Entry]], entries: Sequence[Entry]
    ) -> None:
        deliver(
            entries,
            send,
            f"bus '{self.bus}': alerts",
            timeout=self.timeout,
            clock=self.clock,
        )

    def _send(self, refused: list[Refusal[Entry]], entries: Sequence[Entry]) -> Answer[Entry]:
        """Send a request. Adds the entries to ``refused`` that EventBridge refuses each time."""
        request = [entry.request(self.bus) for entry in entries]
        answer = self.client.put_events(Entries=request)
        if not answer.get("FailedEntryCount"):
            return Answer(())
        results = answer.get("Entries", [])
        failed = [
            (entry, result["ErrorCode"], f"{result['ErrorCode']}: {result.get('ErrorMessage')}")
            for entry, result in zip(entries, results)
            if result.get("ErrorCode") is not None
        ]
        if len(results) != len(entries) or not failed:  # not an answer to this request
            return Answer(entries, "an incomplete answer")
        final = [it for it in failed if it[1] in _REFUSES_THE_JOB]
        if final:
            return Answer([it[0] for it in final], final[-1][2], is_final=True)
        refused += [Refusal(it[0], it[2]) for it in failed if it[1] in _REFUSES_THE_ENTRY]
        again = [it for it in failed if it[1] not in _REFUSES_THE_ENTRY]
        return Answer([it[0] for it in again], again[-1][2] if again else "")
