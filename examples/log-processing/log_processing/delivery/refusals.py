"""Finds the entries that a service refuses for what they contain, so that the others arrive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Callable, Generic

from .retry import Entry, InvalidRequestError

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Refusal(Generic[Entry]):
    """An entry that a service refuses each time.

    Attributes:
        reason: what the service said.
    """

    entry: Entry
    reason: str


def deliver_valid(
    entries: Sequence[Entry], deliver: Callable[[Sequence[Entry]], None]
) -> list[Refusal[Entry]]:
    """Deliver entries together or, if the service refuses this request, each alone.

    Args:
        entries: the entries of one request.
        deliver: delivers some of them.

    Returns:
        The entries that the service refuses alone, too.

    Raises:
        InvalidRequestError: if the service refuses each of several entries. Then the cause is more
            likely the table or the bus than the entries.
        NotDeliveredError: what ``deliver`` raises for any other reason.
    """
    try:
        deliver(entries)
    except InvalidRequestError:
        alone = [(entry, _refusal(entry, deliver)) for entry in entries]
        refused = [Refusal(entry, reason) for entry, reason in alone if reason is not None]
        if len(refused) == len(entries) > 1:
            raise
        return refused
    return []


def _refusal(entry: Entry, deliver: Callable[[Sequence[Entry]], None]) -> str | None:
    try:
        deliver([entry])
    except InvalidRequestError as error:
        return str(error)
    return None
