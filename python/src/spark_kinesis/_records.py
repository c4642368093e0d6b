"""Records of a local Kinesis, put and read back."""

from __future__ import annotations

import base64
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from ._errors import LocalKinesisError
from ._patience import FAULT_SECONDS, ask, is_rate, patiently, pause
from ._shards import Shard, parents_first
from ._streams import settled

if TYPE_CHECKING:
    from ._wire import Wire

_REQUEST_RECORDS, _REQUEST_BYTES = 500, 4 * 1024 * 1024
_PUT_SECONDS = 60.0

NewRecord = bytes | str | tuple[str, bytes | str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Record:
    """A record as it is in a stream.

    Attributes:
        shard_id: such as ``shardId-000000000003``.
        sequence_number: a decimal number, growing within a shard.
        partition_key: as it was put; ``None`` where Kinesis itself chose the shard.
        data: the same.
        arrival: when Kinesis took it, in UTC.
    """

    shard_id: str
    sequence_number: str
    partition_key: str | None
    data: bytes
    arrival: datetime

    @property
    def text(self) -> str:
        """Its data as UTF-8."""
        return self.data.decode()


def put(wire: Wire, stream: str, records: Iterable[NewRecord]) -> list[str]:
    """Put records; the shard of each, in their order."""
    entries = [_entry(number, record) for number, record in enumerate(records)]
    shards: list[str] = []
    for request in _requests(entries):
        shards += _put(wire, stream, request)
    return shards


def read(wire: Wire, stream: str) -> list[Record]:
    """Everything in a stream, parents before children, each shard in its order."""
    shards = parents_first(settled(wire, stream))
    return [record for shard in shards for record in _read_shard(wire, stream, shard)]


def _entry(number: int, record: NewRecord) -> dict[str, str]:
    key, data = record if isinstance(record, tuple) else (str(number), record)
    raw = data.encode() if isinstance(data, str) else data
    return {"PartitionKey": key, "Data": base64.b64encode(raw).decode()}


def _requests(entries: Sequence[dict[str, str]]) -> Iterator[list[dict[str, str]]]:
    """Cut to what one request may hold."""
    request: list[dict[str, str]] = []
    size = 0
    for entry in entries:
        more = len(entry["Data"]) + len(entry["PartitionKey"])
        if request and (len(request) == _REQUEST_RECORDS or size + more > _REQUEST_BYTES):
            yield request
            request, size = [], 0
        request.append(entry)
        size += more
    if request:
        yield request


def _put(wire: Wire, stream: str, request: list[dict[str, str]]) -> list[str]:
    """Send until every entry is written; their shards."""
    shards: dict[int, str] = {}
    until, attempt = time.monotonic() + _PUT_SECONDS, 0
    while True:
        left = [at for at in range(len(request)) if at not in shards]
        failed = _put_once(wire, stream, request, left, shards)
        if failed is None:
            return [shards[at] for at in range(len(request))]
        if time.monotonic() > until:
            raise LocalKinesisError(
                f"stream {stream}: {len(request) - len(shards)} records were refused for "
                f"{_PUT_SECONDS:.0f} s, the last with {failed}"
            )
        time.sleep(pause(attempt))
        attempt += 1


def _put_once(
    wire: Wire, stream: str, request: list[dict[str, str]], left: list[int], shards: dict[int, str]
) -> str | None:
    """Send what is left and note what was written; the error of an entry that was not."""
    entries = [request[at] for at in left]

    def send() -> dict[str, Any]:
        return wire.call("PutRecords", StreamName=stream, Records=entries)

    answers = patiently(send, is_rate, FAULT_SECONDS)["Records"]
    shards.update(
        {
            at: answer["ShardId"]
            for at, answer in zip(left, answers, strict=True)
            if "ShardId" in answer
        }
    )
    return next((str(answer["ErrorCode"]) for answer in answers if "ErrorCode" in answer), None)


def _read_shard(wire: Wire, stream: str, shard: Shard) -> Iterator[Record]:
    answer = ask(
        wire,
        "GetShardIterator",
        StreamName=stream,
        ShardId=shard.id,
        ShardIteratorType="TRIM_HORIZON",
    )
    token: str | None = answer["ShardIterator"]
    while token:
        page = ask(wire, "GetRecords", ShardIterator=token)
        yield from (_record(shard.id, found) for found in page["Records"])
        at_tip = not page["Records"] and page["MillisBehindLatest"] == 0
        token = None if at_tip else page.get("NextShardIterator")


def _record(shard: str, found: dict[str, Any]) -> Record:
    arrival = datetime.fromtimestamp(found["ApproximateArrivalTimestamp"], timezone.utc)
    return Record(
        shard_id=shard,
        sequence_number=found["SequenceNumber"],
        partition_key=found.get("PartitionKey"),
        data=base64.b64decode(found["Data"]),
        arrival=arrival,
    )
