"""Faults of a local Kinesis: calls that fail on purpose."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, final

from spark_kinesis._errors import KinesisRefusedError

if TYPE_CHECKING:
    from .http_api import HttpApi

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
    """A fault. It makes calls fail until it is used up or removed; the end of ``with`` removes it.

    Attributes:
        id: number of the fault on the server.
        name: what goes wrong.
    """

    def __init__(self, api: HttpApi, number: int, name: FaultName) -> None:
        """Create faults with ``fault()`` of a local Kinesis."""
        self._api = api
        self.id = number
        self.name = name

    def __repr__(self) -> str:
        return f"<Fault {self.id} {self.name}>"

    @property
    def struck(self) -> int:
        """The number of calls that the fault has made fail so far.

        Raises:
            KinesisRefusedError: if the fault has been removed.
        """
        for found in self._api.admin("GET", PATH)["faults"]:
            if found["id"] == self.id:
                return int(found["struck"])
        raise KinesisRefusedError(
            f"fault {self.id} ({self.name})", "HTTP 404", "it has been removed"
        )

    def remove(self) -> None:
        """Remove the fault. It may be removed already."""
        try:
            self._api.admin("DELETE", f"{PATH}/{self.id}")
        except KinesisRefusedError as refused:
            if refused.code != "HTTP 404":
                raise

    def __enter__(self) -> Fault:
        """The fault is active already."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Remove the fault."""
        self.remove()


def add(api: HttpApi, name: FaultName, how: dict[str, Any]) -> Fault:
    """Add a fault. For each ``None`` in ``how`` the server has a default."""
    given = {key: value for key, value in how.items() if value is not None}
    answer = api.admin("POST", PATH, {"fault": name, **given})
    return Fault(api, int(answer["id"]), name)


def clear(api: HttpApi) -> None:
    """Remove all faults."""
    api.admin("DELETE", PATH)
