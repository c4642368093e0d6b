"""Sends entries until a service has accepted each of them. The clock comes from the caller."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Callable, Generic, TypeVar

from .aws_errors import is_invalid_request, passing_reason

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .clock import Clock

FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.05, 5.0
_LAST_DOUBLING = 10

Entry = TypeVar("Entry")


class NotDeliveredError(Exception):
    """A service did not accept entries in time, or refused them for good."""


class InvalidRequestError(NotDeliveredError):
    """A service refused a request because of what it contains."""


@dataclass(frozen=True)
class Answer(Generic[Entry]):
    """The answer to a request.

    Attributes:
        refused: the entries that the service did not accept. They alone are sent again.
        reason: why it refused them.
        is_final: whether the service will never accept them. They are not sent again.
    """

    refused: Sequence[Entry]
    reason: str = ""
    is_final: bool = False


def pause(attempt: int, random: Callable[[], float]) -> float:
    """Seconds to wait after a failed attempt: a random part of a maximum that doubles.

    Args:
        attempt: number of the attempt, from 0.
        random: returns a number from 0 to 1.
    """
    doubled = FIRST_PAUSE_SECONDS * float(2 ** min(attempt, _LAST_DOUBLING))
    return min(LONGEST_PAUSE_SECONDS, doubled) * random()


def deliver(
    entries: Sequence[Entry],
    send: Callable[[Sequence[Entry]], Answer[Entry]],
    where: str,
    *,
    timeout: float,
    clock: Clock,
) -> None:
    """Send the entries of a request, and send those that were refused again, until none is left.

    Args:
        entries: at least one.
        send: sends a request. An error that may pass refuses all entries of it.
        where: destination of the entries and what they are, for errors: ``table 'logs': items``.
        timeout: seconds until the last request may start.
        clock: time and random numbers.

    Raises:
        InvalidRequestError: if the service refuses the request because of what it contains.
        NotDeliveredError: if entries are left at the deadline, or if another error will not pass.
    """
    begun, attempt, answer = clock.now(), 0, _answer(send, entries, where)
    while answer.refused:
        remaining = begun + timeout - clock.now()
        if answer.is_final or remaining <= 0:
            count = f"{len(answer.refused)} of {len(entries)}"
            raise NotDeliveredError(f"{where}: {count} were {_outcome(answer, timeout)}")
        clock.sleep(min(remaining, pause(attempt, clock.random)))
        attempt += 1
        answer = _answer(send, answer.refused, where)


def _outcome(answer: Answer[Entry], timeout: float) -> str:
    if answer.is_final:
        return f"refused for good: {answer.reason}"
    return f"not accepted within {timeout:g} s. The last answer was: {answer.reason}"


def _answer(
    send: Callable[[Sequence[Entry]], Answer[Entry]], entries: Sequence[Entry], where: str
) -> Answer[Entry]:
    try:
        return send(entries)
    except Exception as error:
        reason = passing_reason(error)
        if reason is None:
            kind = InvalidRequestError if is_invalid_request(error) else NotDeliveredError
            raise kind(f"{where}: {error}") from error
        return Answer(entries, reason)
