"""A local Kinesis that runs already, with everything that a test may do with it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypedDict

from spark_kinesis._boto import LOCAL_REGION, client
from spark_kinesis._errors import LocalKinesisError
from spark_kinesis._options.access import StaticCredentials
from spark_kinesis._retry import put_all

from ._admin import Fault, FaultName, Stats, admin, stats

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient

_KEY = "local"  # a local Kinesis accepts every key
_KEYS = {"aws_access_key_id": _KEY, "aws_secret_access_key": _KEY}
_ATTEMPTS = 8
_PATIENCE_SECONDS = 60.0
_POLL_SECONDS, _STEP_SECONDS = 0.1, 0.5

NewRecord = bytes | str | tuple[str, bytes | str]


class Access(TypedDict):
    """The keyword arguments with which a source or a sink reaches a local Kinesis."""

    region: str
    endpoint: str
    credentials: StaticCredentials


@dataclass(frozen=True, kw_only=True, slots=True)
class Shard:
    """A shard, its range of hash keys, and its parents."""

    id: str  # such as ``shardId-000000000003``
    is_open: bool  # whether it takes records
    first: int  # lowest hash key, inclusive
    last: int  # highest hash key, inclusive
    parents: tuple[str, ...]  # ids of the shards it was made of, which may have expired


@dataclass(frozen=True, kw_only=True, slots=True)
class Record:
    """A record in a stream."""

    shard_id: str  # id of the shard, such as ``shardId-000000000003``
    sequence_number: str  # decimal digits. The number grows within a shard.
    partition_key: str | None  # ``None`` if Kinesis distributes the records itself
    data: bytes
    arrival: datetime  # time at which Kinesis accepted the record, in UTC

    @property
    def text(self) -> str:
        """The data, decoded from UTF-8."""
        return self.data.decode()


class LocalEndpoint:
    """A local Kinesis that runs already, such as one started from a shell.

    Every method that changes a stream returns when the stream is active again and lists the change.
    A simulated clock does not move by itself, so these methods move it forward, 0.5 s at a time,
    until the change is complete. They raise ``LocalKinesisError`` if it is not after a minute.

    Methods for streams, shards and records use boto3. They raise its ``ClientError`` if the server
    refuses a call, and ``MissingPackageError`` if boto3 is not installed. The other methods raise
    ``LocalKinesisError``. All streams are in us-east-1.

    Args:
        endpoint: URL, such as ``http://127.0.0.1:4567``.
    """

    def __init__(self, endpoint: str) -> None:
        """Does not connect yet."""
        self._address: str | None = endpoint
        self._client: KinesisClient | None = None

    @property
    def endpoint(self) -> str:
        """The URL, such as ``http://127.0.0.1:40123``.

        Raises:
            LocalKinesisError: if the local Kinesis is not running.
        """
        if self._address is None:
            raise LocalKinesisError("the local Kinesis is not running: call start() first")
        return self._address

    @property
    def access(self) -> Access:
        """Region, endpoint and credentials, as arguments of a source or a sink."""
        keys = StaticCredentials(access_key_id=_KEY, secret_access_key=_KEY)
        return Access(region=LOCAL_REGION, endpoint=self.endpoint, credentials=keys)

    @property
    def client(self) -> KinesisClient:
        """A boto3 client, which threads may share. It repeats calls that fail for a while.

        Type checkers know its methods if ``boto3-stubs[kinesis]`` is installed.

        Raises:
            LocalKinesisError: if the local Kinesis is not running.
            MissingPackageError: if boto3 is not installed.
        """
        endpoint = self.endpoint
        if self._client is None:
            self._client = client(
                *("LocalKinesis", "kinesis", endpoint, LOCAL_REGION, None),
                attempts=_ATTEMPTS,
                keys=_KEYS,
            )
        return self._client

    @property
    def streams(self) -> list[str]:
        """The names of all streams."""
        pages = self.client.get_paginator("list_streams").paginate()
        return [name for page in pages for name in page["StreamNames"]]

    def create(self, name: str, shards: int = 1) -> None:
        """Create a stream."""
        self.client.create_stream(StreamName=name, ShardCount=shards)
        self._wait_until_active(name)

    def delete(self, name: str) -> None:
        """Delete a stream, and return when it no longer exists."""
        self.client.delete_stream(StreamName=name, EnforceConsumerDeletion=True)
        self._wait_until(lambda: name not in self.streams, f"stream {name} still exists")

    def shards(self, stream: str) -> list[Shard]:
        """The shards of a stream, open and closed, by id: parents before their children."""
        self._wait_until_active(stream)
        pages = self.client.get_paginator("describe_stream").paginate(StreamName=stream)
        found = [_shard(it) for page in pages for it in page["StreamDescription"]["Shards"]]
        return sorted(found, key=lambda shard: shard.id)

    def split(
        self, stream: str, shard: str | None = None, at: int | None = None
    ) -> tuple[str, str]:
        """Split a shard in two.

        Args:
            stream: name of the stream.
            shard: id such as ``shardId-000000000000``; default: the widest open shard.
            at: lowest hash key of the upper new shard; default: the middle.

        Returns:
            The ids of the two new shards, the lower one first.

        Raises:
            ValueError: if the shard is not open.
        """
        fitting = [it for it in self._open_shards(stream) if shard in (None, it.id)]
        if not fitting:
            raise ValueError(f"stream {stream} has no open shard {shard}")
        chosen = max(fitting, key=_width)
        start = chosen.first + _width(chosen) // 2 if at is None else at
        self.client.split_shard(
            StreamName=stream, ShardToSplit=chosen.id, NewStartingHashKey=str(start)
        )
        low, high = self._children(stream, chosen.id, 2)
        return low, high

    def merge(self, stream: str, shard: str | None = None) -> str:
        """Merge a shard with the next one above it.

        Args:
            stream: name of the stream.
            shard: id of the lower one; default: that of the pair that is narrowest together.

        Returns:
            The id of the new shard.

        Raises:
            ValueError: if there is no such pair of open shards.
        """
        pairs = [it for it in pairwise(self._open_shards(stream)) if shard in (None, it[0].id)]
        if not pairs:
            raise ValueError(f"stream {stream} has no open shard above {shard or 'another one'}")
        low, high = min(pairs, key=lambda pair: _width(pair[0]) + _width(pair[1]))
        self.client.merge_shards(
            StreamName=stream, ShardToMerge=low.id, AdjacentShardToMerge=high.id
        )
        return self._children(stream, low.id, 1)[0]

    def scale(self, stream: str, shards: int) -> list[str]:
        """Change the number of open shards: to half to twice as many, as on AWS.

        Returns:
            The ids of the open shards, by hash key.
        """
        self.client.update_shard_count(
            StreamName=stream, TargetShardCount=shards, ScalingType="UNIFORM_SCALING"
        )
        self._wait_until(
            lambda: len(self._open_shards(stream)) == shards,
            f"stream {stream} does not list its {shards} open shards",
        )
        return [shard.id for shard in self._open_shards(stream)]

    def put(self, stream: str, records: Iterable[NewRecord]) -> list[str]:
        """Write records. Refused records are written again, for a minute at most.

        boto3 repeats a request without an answer, so a fault may cause duplicates.

        Args:
            stream: name of the stream.
            records: data, or pairs of partition key and data. Text is written as UTF-8. Data
                without a key get their index as the key: ``"0"``, ``"1"``, and so on.

        Returns:
            The shard id of each record. The records of a key are in order, except records that
            had to be written again.

        Raises:
            LocalKinesisError: if some records were still refused after a minute.
        """
        return put_all(
            lambda entries: self.client.put_records(StreamName=stream, Records=entries),
            [_entry(number, record) for number, record in enumerate(records)],
            stream=stream,
            seconds=_PATIENCE_SECONDS,
            error=LocalKinesisError,
        ).shards

    def records(self, stream: str) -> list[Record]:
        """All records of a stream: parents before children, each shard in its order."""
        return [it for shard in self.shards(stream) for it in self._read(stream, shard.id)]

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
        where = {"fault": name, "operation": operation, "stream": stream, "shard": shard}
        how = {"times": times, "rate": rate, "skip": skip, "seed": seed, "seconds": seconds}
        given = {key: value for key, value in {**where, **how}.items() if value is not None}
        answer = admin(self.endpoint, "POST", "faults", given)
        return Fault(self.endpoint, int(answer["id"]), name)

    def clear_faults(self) -> None:
        """Remove all faults."""
        admin(self.endpoint, "DELETE", "faults")

    @property
    def now(self) -> datetime:
        """The time of the server's clock, in UTC."""
        return _utc(admin(self.endpoint, "GET", "clock")["now"])

    def advance(self, by: timedelta | float) -> datetime:
        """Move the server's clock forward. The clock ``"system"`` is then ahead of the machine's.

        Args:
            by: a duration, or a number of seconds, not negative.

        Returns:
            The new time, in UTC.
        """
        seconds = by.total_seconds() if isinstance(by, timedelta) else by
        return _utc(admin(self.endpoint, "POST", "clock", {"advance": seconds})["now"])

    def stats(self) -> Stats:
        """The number of calls, refusals, and records written and read so far."""
        return stats(self.endpoint)

    def reset_stats(self) -> None:
        """Set all statistics to zero."""
        admin(self.endpoint, "DELETE", "stats")

    def _open_shards(self, stream: str) -> list[Shard]:
        """The open shards, by hash key."""
        shards = (shard for shard in self.shards(stream) if shard.is_open)
        return sorted(shards, key=lambda shard: shard.first)

    def _children(self, stream: str, parent: str, count: int) -> list[str]:
        """The children of a shard by hash key, when they are listed."""
        found: list[Shard] = []

        def is_listed() -> bool:
            found[:] = [it for it in self.shards(stream) if parent in it.parents]
            return len(found) == count

        self._wait_until(is_listed, f"stream {stream} does not list the children of {parent}")
        return [shard.id for shard in sorted(found, key=lambda shard: shard.first)]

    def _read(self, stream: str, shard: str) -> Iterator[Record]:
        start = self.client.get_shard_iterator(
            StreamName=stream, ShardId=shard, ShardIteratorType="TRIM_HORIZON"
        )
        token: str | None = start["ShardIterator"]
        while token:
            page = self.client.get_records(ShardIterator=token)
            for found in page["Records"]:
                yield Record(
                    shard_id=shard,
                    sequence_number=found["SequenceNumber"],
                    partition_key=found.get("PartitionKey"),
                    data=found["Data"],
                    arrival=found["ApproximateArrivalTimestamp"].astimezone(timezone.utc),
                )
            is_tip = not page["Records"] and page["MillisBehindLatest"] == 0
            token = None if is_tip else page.get("NextShardIterator")

    def _wait_until_active(self, stream: str) -> None:
        def is_active() -> bool:
            summary = self.client.describe_stream_summary(StreamName=stream)
            return summary["StreamDescriptionSummary"]["StreamStatus"] == "ACTIVE"

        self._wait_until(is_active, f"stream {stream} is not active")

    def _wait_until(self, condition: Callable[[], bool], complaint: str) -> None:
        """Wait until the server has done something. A clock that stands still is moved meanwhile.

        Raises:
            LocalKinesisError: after a minute, with the complaint.
        """
        until = time.monotonic() + _PATIENCE_SECONDS
        while not condition():
            if time.monotonic() > until:
                raise LocalKinesisError(f"{complaint} after {_PATIENCE_SECONDS:.0f} s")
            before = self.now
            time.sleep(_POLL_SECONDS)
            if self.now == before:
                self.advance(_STEP_SECONDS)


def _shard(given: Any) -> Shard:
    """The shard in a description by the service."""
    parents = (given.get("ParentShardId"), given.get("AdjacentParentShardId"))
    return Shard(
        id=given["ShardId"],
        is_open="EndingSequenceNumber" not in given["SequenceNumberRange"],
        first=int(given["HashKeyRange"]["StartingHashKey"]),
        last=int(given["HashKeyRange"]["EndingHashKey"]),
        parents=tuple(parent for parent in parents if parent),
    )


def _width(shard: Shard) -> int:
    return shard.last - shard.first + 1


def _entry(number: int, record: NewRecord) -> dict[str, Any]:
    key, data = record if isinstance(record, tuple) else (str(number), record)
    return {"PartitionKey": key, "Data": data.encode() if isinstance(data, str) else data}


def _utc(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, timezone.utc)
