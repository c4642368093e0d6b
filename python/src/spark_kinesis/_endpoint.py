"""A local Kinesis that listens somewhere, and all that a test may want to do with it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, TypedDict

from . import _faults, _records, _stats, _streams
from ._boto import boto3
from ._credentials import StaticCredentials
from ._errors import LocalKinesisError
from ._wire import REGION, Wire

if TYPE_CHECKING:
    from ._faults import Fault, FaultName
    from ._records import NewRecord, Record
    from ._shards import Shard
    from ._stats import Stats

_SECRET = "local"  # noqa: S105 a local Kinesis takes any
_CLOCK = "/_simulator/clock"


class Access(TypedDict):
    """The keyword arguments by which a source or a sink reaches a local Kinesis."""

    region: str
    endpoint: str
    credentials: StaticCredentials


class LocalEndpoint:
    """A local Kinesis that runs already, such as one started from a shell.

    Every method that changes a stream returns when the stream is active again. All of them raise
    ``KinesisRefused`` when the server refuses, with the service's name of the error in ``code``,
    and ``NoAnswer`` when there is none within 30 s. Streams are those of us-east-1.

    Args:
        endpoint: such as ``http://127.0.0.1:4567``.
    """

    def __init__(self, endpoint: str) -> None:
        """Connect to nothing yet."""
        self._address: str | None = endpoint

    @property
    def endpoint(self) -> str:
        """Such as ``http://127.0.0.1:40123``.

        Raises:
            LocalKinesisError: when it is not running.
        """
        if self._address is None:
            raise LocalKinesisError("the local Kinesis is not running: call start() first")
        return self._address

    @property
    def access(self) -> Access:
        """Region, endpoint and credentials, as a source or a sink takes them."""
        return Access(
            region=REGION,
            endpoint=self.endpoint,
            credentials=StaticCredentials(access_key_id="local", secret_access_key=_SECRET),
        )

    @property
    def client(self) -> Any:
        """A new boto3 client of it.

        Raises:
            MissingPackage: when boto3 is not installed.
        """
        return boto3("the client of a local Kinesis").client(
            "kinesis",
            endpoint_url=self.endpoint,
            region_name=REGION,
            aws_access_key_id="local",
            aws_secret_access_key=_SECRET,
        )

    @property
    def streams(self) -> list[str]:
        """The names of all streams."""
        return _streams.names(self._wire)

    def create(self, name: str, shards: int = 1) -> None:
        """Make a stream."""
        _streams.create(self._wire, name, shards)

    def delete(self, name: str) -> None:
        """Delete a stream, and return when it is gone."""
        _streams.delete(self._wire, name)

    def shards(self, stream: str) -> list[Shard]:
        """The shards of a stream, open and closed, by number."""
        return sorted(_streams.settled(self._wire, stream), key=lambda shard: shard.id)

    def split(
        self, stream: str, shard: str | None = None, at: int | None = None
    ) -> tuple[str, str]:
        """Split a shard in two.

        Args:
            stream: its name.
            shard: such as ``shardId-000000000000``; default: the open one that holds ``at``, or
                else the widest.
            at: the lowest hash key of the upper of the two; default: the middle.

        Returns:
            The ids of the two, lower hash keys first.

        Raises:
            ValueError: when no open shard that is listed fits what was said.
        """
        return _streams.split(self._wire, stream, shard, at)

    def merge(self, stream: str, shard: str | None = None, adjacent: str | None = None) -> str:
        """Merge two shards into one.

        Args:
            stream: its name.
            shard: one of the two; default: the narrowest pair of neighbours.
            adjacent: the other; default: the next shard above, or else below.

        Returns:
            The id of the one.

        Raises:
            ValueError: when no two open neighbours that are listed fit what was said.
        """
        return _streams.merge(self._wire, stream, shard, adjacent)

    def scale(self, stream: str, shards: int) -> list[str]:
        """Change the number of open shards: to half to twice as many, as on AWS.

        Waits until they are listed, for as long as the list lag is, at most a minute.

        Returns:
            The ids of the open ones, by hash key.
        """
        return _streams.scale(self._wire, stream, shards)

    def put(self, stream: str, records: Iterable[NewRecord]) -> list[str]:
        """Write records, and write again what was throttled, for at most a minute.

        Args:
            stream: its name.
            records: data, or pairs of partition key and data; text is written as UTF-8. Data
                alone gets its place among the records as key: ``"0"``, ``"1"``, ...

        Returns:
            The shard id of each record. Those of a key keep their order unless one of them had
            to be written again.

        Raises:
            LocalKinesisError: when some were still refused after a minute.
        """
        return _records.put(self._wire, stream, records)

    def records(self, stream: str) -> list[Record]:
        """Everything in a stream: parents before children, each shard in its order."""
        return _records.read(self._wire, stream)

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

    @property
    def _wire(self) -> Wire:
        return Wire(self.endpoint)


def _instant(answer: dict[str, Any]) -> datetime:
    return datetime.fromtimestamp(answer["now"], timezone.utc)
