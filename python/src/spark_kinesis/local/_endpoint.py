"""A local Kinesis that runs already, with everything that a test may do with it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, TypedDict

from spark_kinesis._boto import LOCAL_REGION
from spark_kinesis._errors import LocalKinesisError
from spark_kinesis._options.access import StaticCredentials
from spark_kinesis._retry import put_all

from ._admin import Fault, FaultName, Stats, admin, stats
from ._calls import KEY, Calls, Clients
from ._shards import Shard, described, open_shards, pair_to_merge, parents_first, shard_to_split

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient

_REQUEST_RECORDS, _REQUEST_BYTES = 500, 4 * 1024 * 1024
_PUT_SECONDS = 60.0
_WAIT_SECONDS, _POLL_SECONDS, _STEP_SECONDS = 60.0, 0.15, 0.1

NewRecord = bytes | str | tuple[str, bytes | str]


class Access(TypedDict):
    """The keyword arguments with which a source or a sink reaches a local Kinesis."""

    region: str
    endpoint: str
    credentials: StaticCredentials


@dataclass(frozen=True, kw_only=True, slots=True)
class Record:
    """A record in a stream.

    Attributes:
        shard_id: id of the shard, such as ``shardId-000000000003``.
        sequence_number: decimal digits. The number grows within a shard.
        partition_key: key of the record; ``None`` if Kinesis distributes the records itself.
        data: data of the record.
        arrival: time at which Kinesis accepted the record, in UTC.
    """

    shard_id: str
    sequence_number: str
    partition_key: str | None
    data: bytes
    arrival: datetime

    @property
    def text(self) -> str:
        """The data, decoded from UTF-8."""
        return self.data.decode()


class LocalEndpoint:
    """A local Kinesis that runs already, such as one started from a shell.

    Every method that changes a stream returns when the stream is active again. A simulated clock
    does not move by itself, so these methods move it forward, 0.1 s at a time, until the change is
    complete. Every method raises ``KinesisRefusedError`` if the server refuses the call, with the
    service's name of the error in ``code``, and ``NoAnswerError`` if no answer comes within 30 s.
    Methods for streams, shards and records raise ``MissingPackageError`` if boto3 is not installed.
    All streams are in us-east-1.

    Args:
        endpoint: URL, such as ``http://127.0.0.1:4567``.
    """

    def __init__(self, endpoint: str) -> None:
        """Does not connect yet."""
        self._address: str | None = endpoint
        self._clients = Clients()

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
        keys = StaticCredentials(access_key_id=KEY, secret_access_key=KEY)
        return Access(region=LOCAL_REGION, endpoint=self.endpoint, credentials=keys)

    @property
    def client(self) -> KinesisClient:
        """A boto3 client. It is the same at each call in a process, and threads may share it.

        Type checkers know its methods if ``boto3-stubs[kinesis]`` is installed.

        Raises:
            LocalKinesisError: if the local Kinesis is not running.
            MissingPackageError: if boto3 is not installed.
        """
        return self._clients.client(self.endpoint)

    @property
    def streams(self) -> list[str]:
        """The names of all streams."""
        page = self._calls.ask("ListStreams")
        found: list[str] = list(page["StreamNames"])
        while page["HasMoreStreams"]:
            page = self._calls.ask("ListStreams", ExclusiveStartStreamName=found[-1])
            found += page["StreamNames"]
        return found

    def create(self, name: str, shards: int = 1) -> None:
        """Create a stream."""
        self._calls.change("CreateStream", StreamName=name, ShardCount=shards)
        self._active(name)

    def delete(self, name: str) -> None:
        """Delete a stream, and return when it no longer exists."""
        self._calls.change("DeleteStream", StreamName=name, EnforceConsumerDeletion=True)
        self._wait_until(lambda: name not in self.streams, f"stream {name} still exists")

    def shards(self, stream: str) -> list[Shard]:
        """The shards of a stream, open and closed, by id."""
        return sorted(self._active(stream), key=lambda shard: shard.id)

    def split(
        self, stream: str, shard: str | None = None, at: int | None = None
    ) -> tuple[str, str]:
        """Split a shard in two.

        Args:
            stream: name of the stream.
            shard: id such as ``shardId-000000000000``; default: the open shard of the hash key
                ``at``, or the widest open shard.
            at: lowest hash key of the upper new shard; default: the middle.

        Returns:
            The ids of the two new shards, the lower one first.

        Raises:
            ValueError: if no listed open shard matches the arguments.
        """
        if shard is None or at is None:
            chosen = shard_to_split(stream, self._active(stream), shard, at)
            shard, at = chosen.id, chosen.middle if at is None else at
        self._calls.change(
            "SplitShard", StreamName=stream, ShardToSplit=shard, NewStartingHashKey=str(at)
        )
        low, high = self._children(stream, shard)
        return low, high

    def merge(self, stream: str, shard: str | None = None, adjacent: str | None = None) -> str:
        """Merge two shards into one.

        Args:
            stream: name of the stream.
            shard: id of one of the two; default: the narrowest pair of neighbors.
            adjacent: id of the other; default: the next shard above, or else below.

        Returns:
            The id of the new shard.

        Raises:
            ValueError: if no two listed open neighbors match the arguments.
        """
        if shard is None or adjacent is None:
            low, high = pair_to_merge(stream, self._active(stream), shard, adjacent)
            shard, adjacent = low.id, high.id
        self._calls.change(
            "MergeShards", StreamName=stream, ShardToMerge=shard, AdjacentShardToMerge=adjacent
        )
        (merged,) = self._children(stream, shard)
        return merged

    def scale(self, stream: str, shards: int) -> list[str]:
        """Change the number of open shards: to half to twice as many, as on AWS.

        Returns when the new shards are listed, which takes as long as the list lag.

        Returns:
            The ids of the open shards, by hash key.

        Raises:
            LocalKinesisError: if they are not listed after a minute.
        """
        self._calls.change(
            "UpdateShardCount",
            StreamName=stream,
            TargetShardCount=shards,
            ScalingType="UNIFORM_SCALING",
        )
        found: list[Shard] = []

        def is_listed() -> bool:
            found[:] = open_shards(self._active(stream))
            return len(found) == shards

        self._wait_until(is_listed, f"stream {stream} does not list its {shards} open shards")
        return [shard.id for shard in found]

    def put(self, stream: str, records: Iterable[NewRecord]) -> list[str]:
        """Write records. Throttled records are written again, for a minute at most.

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
        entries = [_entry(number, record) for number, record in enumerate(records)]
        return [shard for request in _requests(entries) for shard in self._put(stream, request)]

    def records(self, stream: str) -> list[Record]:
        """All records of a stream: parents before children, each shard in its order."""
        shards = parents_first(self._active(stream))
        return [record for shard in shards for record in self._read(stream, shard.id)]

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

    def _active(self, stream: str) -> list[Shard]:
        """All shards of a stream when it is active. During the list lag, those of before."""
        found: list[Shard] = []

        def is_active() -> bool:
            page = self._calls.ask("DescribeStream", StreamName=stream)["StreamDescription"]
            found[:] = map(described, page["Shards"])
            while page["HasMoreShards"]:
                after = found[-1].id
                answer = self._calls.ask(
                    "DescribeStream", StreamName=stream, ExclusiveStartShardId=after
                )
                page = answer["StreamDescription"]
                found.extend(map(described, page["Shards"]))
            return bool(page["StreamStatus"] == "ACTIVE")

        self._wait_until(is_active, f"stream {stream} is not active")
        return found

    def _children(self, stream: str, closed: str) -> list[str]:
        """The children of a shard by hash key, from the end of its records: it has no list lag."""
        self._active(stream)
        token = self._iterator(stream, closed, "LATEST")
        born: list[dict[str, Any]] = []

        def is_end() -> bool:
            nonlocal token
            page = self._calls.ask("GetRecords", ShardIterator=token)
            token = page.get("NextShardIterator", token)
            born.extend(page.get("ChildShards", ()))
            return bool(born)

        self._wait_until(is_end, f"stream {stream}: shard {closed} does not report its children")
        firsts = {str(it["ShardId"]): int(it["HashKeyRange"]["StartingHashKey"]) for it in born}
        return sorted(firsts, key=lambda id_: firsts[id_])

    def _read(self, stream: str, shard: str) -> Iterator[Record]:
        token: str | None = self._iterator(stream, shard, "TRIM_HORIZON")
        while token:
            page = self._calls.ask("GetRecords", ShardIterator=token)
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

    def _iterator(self, stream: str, shard: str, kind: str) -> str:
        found = self._calls.ask(
            "GetShardIterator", StreamName=stream, ShardId=shard, ShardIteratorType=kind
        )
        return str(found["ShardIterator"])

    def _put(self, stream: str, request: Sequence[dict[str, Any]]) -> list[str]:
        """Send a request until every entry is written. Returns the shard ids."""
        return put_all(
            lambda entries: self._calls.change("PutRecords", StreamName=stream, Records=entries),
            request,
            stream=stream,
            seconds=_PUT_SECONDS,
            error=LocalKinesisError,
        ).shards

    def _wait_until(self, condition: Callable[[], bool], complaint: str) -> None:
        """Wait until the server has done something. A clock that stands still is moved meanwhile.

        Raises:
            LocalKinesisError: after 60 s, with the complaint.
        """
        until, is_standing = time.monotonic() + _WAIT_SECONDS, False
        while not condition():
            if time.monotonic() > until:
                raise LocalKinesisError(f"{complaint} after {_WAIT_SECONDS:.0f} s")
            if not is_standing:
                before = self.now
                time.sleep(_POLL_SECONDS)
                is_standing = self.now == before
            if is_standing:
                self.advance(_STEP_SECONDS)

    @property
    def _calls(self) -> Calls:
        return self._clients.calls(self.endpoint)

    def _move(self, endpoint: str | None) -> None:
        """Change the address, and close the clients of the former one."""
        self._address = endpoint
        self._clients.close()


def _entry(number: int, record: NewRecord) -> dict[str, Any]:
    key, data = record if isinstance(record, tuple) else (str(number), record)
    return {"PartitionKey": key, "Data": data.encode() if isinstance(data, str) else data}


def _requests(entries: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Split entries into requests within the limits of one request."""
    request: list[dict[str, Any]] = []
    size = 0
    for entry in entries:
        more = len(entry["Data"]) + len(entry["PartitionKey"].encode())
        if request and (len(request) == _REQUEST_RECORDS or size + more > _REQUEST_BYTES):
            yield request
            request, size = [], 0
        request.append(entry)
        size += more
    if request:
        yield request


def _utc(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, timezone.utc)
