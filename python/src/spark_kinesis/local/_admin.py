"""What a local Kinesis can do and AWS cannot: faults, a clock that moves, statistics."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from ._address import LocalAddress
from ._calls import clock, faults, stats

if TYPE_CHECKING:
    from ._calls.faults import Fault, FaultName
    from ._calls.stats import Stats


class LocalAdmin(LocalAddress):
    """The administration of a local Kinesis."""

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
        """Make calls fail from now on, until the fault is used up or removed.

        The fault also applies to the calls that the methods of this object make.

        Args:
            name: what goes wrong.
            operation: operation that fails, such as ``GetRecords``; default: every operation to
                which the fault applies.
            stream: name of the stream whose calls fail; default: all streams.
            shard: id of the shard whose calls fail; default: all shards.
            times: maximum number of calls that fail; default: no maximum.
            rate: share of the calls that fail, from 0 to 1; default: 1.
            skip: number of matching calls that succeed first; default: 0.
            seed: seed of the random numbers behind ``rate``, for the same faults again.
            seconds: duration of a stalled call.

        Returns:
            The fault. At the end of a ``with`` block it is removed.
        """
        how = {"operation": operation, "stream": stream, "shard": shard, "times": times}
        chance = {"rate": rate, "skip": skip, "seed": seed, "seconds": seconds}
        return faults.add(self._api, name, {**how, **chance})

    def clear_faults(self) -> None:
        """Remove all faults."""
        faults.clear(self._api)

    @property
    def now(self) -> datetime:
        """The time of the server's clock, in UTC."""
        return clock.now(self._api)

    def advance(self, by: timedelta | float) -> datetime:
        """Move the server's clock forward. The clock ``"system"`` is then ahead of the machine's.

        Args:
            by: a duration, or a number of seconds, not negative.

        Returns:
            The new time, in UTC.
        """
        return clock.advance(self._api, by.total_seconds() if isinstance(by, timedelta) else by)

    def stats(self) -> Stats:
        """The number of calls, refusals, and records written and read so far."""
        return stats.read(self._api)

    def reset_stats(self) -> None:
        """Set all statistics to zero."""
        stats.reset(self._api)
