"""A finding: one fact about a set-up, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class State(Enum):
    """Whether a fact is as the connector needs it."""

    OK = "ok"
    PROBLEM = "problem"
    UNKNOWN = "unknown"

    @property
    def mark(self) -> str:
        """The sign in tables."""
        return {State.OK: "✔", State.PROBLEM: "✘", State.UNKNOWN: "?"}[self]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One fact about a set-up.

    Attributes:
        section: the part of the set-up, such as ``stream``.
        subject: the fact, such as ``retention``.
        state: whether the fact is as the connector needs it.
        seen: what the examination saw, in words. It contains no secret.
        remedy: what to do. Empty if the state is ``OK``.
        details: further lines, such as one per shard.
    """

    section: str
    subject: str
    state: State
    seen: str
    remedy: str = ""
    details: tuple[str, ...] = ()


def ok(section: str, subject: str, seen: str, details: tuple[str, ...] = ()) -> Finding:
    """A fact as the connector needs it."""
    return Finding(section=section, subject=subject, state=State.OK, seen=seen, details=details)


def problem(
    section: str, subject: str, seen: str, remedy: str, details: tuple[str, ...] = ()
) -> Finding:
    """A fact that prevents something. The remedy says what to do."""
    return Finding(
        section=section,
        subject=subject,
        state=State.PROBLEM,
        seen=seen,
        remedy=remedy,
        details=details,
    )


def unknown(section: str, subject: str, seen: str, remedy: str = "") -> Finding:
    """A fact that could not be seen. The remedy says how it can be."""
    return Finding(section=section, subject=subject, state=State.UNKNOWN, seen=seen, remedy=remedy)
