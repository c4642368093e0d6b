"""Sends entries until a service has accepted each of them. Time and chance come from the caller."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Callable, Generic, TypeVar

from .aws_errors import passing_reason

if TYPE_CHECKING:
    from collections.abc import Sequence

FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.05, 5.0
_LAST_DOUBLING = 10

Entry = TypeVar("Entry")


class NotDeliveredError(Exception):
    """A service did not accept entries in time, or refused them for good."""


@dataclass(frozen=True)
class Times:
    """The clock, and chance.

    Attributes:
        now: returns seconds of a monotonic clock.
        sleep: waits for a number of seconds.
        chance: returns a number from 0 to 1.
    """

    now: Callable[[], float]
    sleep: Callable[[float], None]
    chance: Callable[[], float]


@dataclass(frozen=True)
class Answer(Generic[Entry]):
    """The answer to a request.

    Attributes:
        refused: the entries that the service may accept later. They alone are sent again.
        reason: why it refused them.
    """

    refused: Sequence[Entry]
    reason: str = ""


def pause(attempt: int, chance: Callable[[], float]) -> float:
    """Seconds to wait after a failed attempt: a random part of a maximum that doubles.

    Args:
        attempt: number of the attempt, from 0.
        chance: returns a number from 0 to 1.
    """
    doubled = FIRST_PAUSE_SECONDS * float(2 ** min(attempt, _LAST_DOUBLING))
    return min(LONGEST_PAUSE_SECONDS, doubled) * chance()


def deliver(
    entries: Sequence[Entry],
    send: Callable[[Sequence[Entry]], Answer[Entry]],
    where: str,
    *,
    kind: str,
    timeout: float,
    times: Times,
) -> None:
    """Send entries, and send those that were refused again, until none is left.

    The last request starts at the deadline at the latest.

    Args:
        entries: the entries of one request.
        send: sends a request. An error that may pass refuses all entries of it.
        where: destination of the entries, for the error: ``table 'logs'``.
        kind: what they are, for the error: ``items``.
        timeout: seconds until the deadline.
        times: the clock.

    Raises:
        NotDeliveredError: if entries are left at the deadline, or if an error will not pass.
    """
    begun, attempt, left = times.now(), 0, entries
    while left:
        answer = _answer(send, left, where)
        if not answer.refused:
            return
        left = answer.refused
        remaining = begun + timeout - times.now()
        if remaining <= 0:
            raise NotDeliveredError(
                f"{where}: {kind}: {len(left)} of {len(entries)} were not accepted within "
                f"{timeout:g} s. The last answer was: {answer.reason}"
            )
        times.sleep(min(remaining, pause(attempt, times.chance)))
        attempt += 1


def _answer(
    send: Callable[[Sequence[Entry]], Answer[Entry]], entries: Sequence[Entry], where: str
) -> Answer[Entry]:
    try:
        return send(entries)
    except Exception as error:
        reason = passing_reason(error)
        if reason is None:
            raise NotDeliveredError(f"{where}: {error}") from error
        return Answer(entries, reason)
