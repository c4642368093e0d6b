"""Faults of a local Kinesis: what goes wrong, with which calls, how often."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, final

from ._errors import KinesisRefusedError

if TYPE_CHECKING:
    from ._wire import Wire

PATH = "/_simulator/faults"

FaultName = Literal[
    "throttle",
    "internal-failure",
    "unavailable",
    "stall",
    "reset",
    "answer-lost",
    "truncate",
    "expired-iterator",
    "expired-token",
    "access-denied",
    "empty-page",
    "partial-put",
    "wrong-shard",
    "recreate-stream",
    "limit-exceeded",
    "kms-throttled",
    "drop-subscription",
    "truncate-event",
]


@final
class Fault:
    """A fault that strikes until it is used up or removed; leaving ``with`` removes it.

    Attributes:
        id: its number on the server.
        name: what goes wrong.
    """

    def __init__(self, wire: Wire, number: int, name: FaultName) -> None:
        """Made by ``fault()`` of a local Kinesis."""
        self._wire = wire
        self.id = number
        self.name = name

    def __repr__(self) -> str:
        return f"<Fault {self.id} {self.name}>"

    @property
    def struck(self) -> int:
        """How many calls it has struck so far.

        Raises:
            KinesisRefusedError: when it has been removed.
        """
        for found in self._wire.admin("GET", PATH)["faults"]:
            if found["id"] == self.id:
                return int(found["struck"])
        raise KinesisRefusedError(
            f"fault {self.id} ({self.name})", "HTTP 404", "it has been removed"
        )

    def remove(self) -> None:
        """Strike no more. Removing twice is fine."""
        try:
            self._wire.admin("DELETE", f"{PATH}/{self.id}")
        except KinesisRefusedError as refused:
            if refused.code != "HTTP 404":
                raise

    def __enter__(self) -> Fault:
        """It strikes already."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Remove it."""
        self.remove()


def add(wire: Wire, name: FaultName, how: dict[str, Any]) -> Fault:
    """Begin to strike; what was left out of ``how`` (``None``) is the server's to decide."""
    said = {key: value for key, value in how.items() if value is not None}
    answer = wire.admin("POST", PATH, {"fault": name, **said})
    return Fault(wire, int(answer["id"]), name)


def clear(wire: Wire) -> None:
    """Remove every fault."""
    wire.admin("DELETE", PATH)
