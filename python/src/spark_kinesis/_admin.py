"""What a local Kinesis can do beyond the service: faults, a clock to move, statistics."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

from . import _faults, _stats
from ._address import LocalAddress

if TYPE_CHECKING:
    from ._faults import Fault, FaultName
    from ._stats import Stats

_CLOCK = "/_simulator/clock"


class LocalAdmin(LocalAddress):
    """The admin side of a local Kinesis."""

    def fault(
        self,
        name: FaultName,
        *,
        operation: str | None = None,
        stream: str | None = None,
        shard: str | None = None,
        times: int | None = None,
        rate: float | None = None,
        skip: int | None = None,
        seed: int | None = None,
        seconds: float | None = None,
    ) -> Fault:
        """Let calls go wrong, from now until used up or removed. The methods here are struck too.

        Args:
            name: what goes wrong.
            operation: such as ``GetRecords``; default: every one that it fits.
            stream: the name of the one whose calls are struck; default: all.
            shard: the id of the one whose calls are struck; default: all.
            times: so many calls at most; default: no limit.
            rate: the share of calls struck, 0 to 1; default: every one.
            skip: so many fitting calls are spared first; default: none.
            seed: of the dice behind ``rate``, for the same faults again.
            seconds: how long a stalled call waits.

        Returns:
            The fault, which ``with`` removes in the end.
        """
        how = {"operation": operation, "stream": stream, "shard": shard, "times": times}
        dice = {"rate": rate, "skip": skip, "seed": seed, "seconds": seconds}
        return _faults.add(self._wire, name, {**how, **dice})

    def clear_faults(self) -> None:
        """Remove every fault."""
        _faults.clear(self._wire)

    @property
    def now(self) -> datetime:
        """The time of its clock, in UTC."""
        return _instant(self._wire.admin("GET", _CLOCK))

    def advance(self, by: timedelta | float) -> datetime:
        """Move its clock on; the system's clock then runs ahead of the machine's.

        Args:
            by: a duration, or seconds, not below 0.

        Returns:
            Its new time, in UTC.
        """
        seconds = by.total_seconds() if isinstance(by, timedelta) else by
        return _instant(self._wire.admin("POST", _CLOCK, {"advance": seconds}))

    def stats(self) -> Stats:
        """What was called, refused, written and read so far."""
        return _stats.counted(self._wire.admin("GET", _stats.PATH))

    def reset_stats(self) -> None:
        """Count from zero again."""
        self._wire.admin("DELETE", _stats.PATH)


def _instant(answer: dict[str, Any]) -> datetime:
    return datetime.fromtimestamp(answer["now"], timezone.utc)
