"""Records of a local Kinesis: write them and read them."""

from __future__ import annotations

import base64
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from spark_kinesis._backoff import pause
from spark_kinesis._errors import LocalKinesisError

from .retries import FAULT_SECONDS, ask, is_throttled, with_retries
from .shards import Shard, parents_first
from .streams import active

if TYPE_CHECKING:
    from .http_api import HttpApi

_REQUEST_RECORDS, _REQUEST_BYTES = 500, 4 * 1024 * 1024
_PUT_SECONDS = 60.0

NewRecord = bytes | str | tuple[str, bytes | str]


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


def put(api: HttpApi, stream: str, records: Iterable[NewRecord]) -> list[str]:
    """Write records. Returns the shard id of each, in the same order."""
    entries = [_entry(number, record) for number, record in enumerate(records)]
    shards: list[str] = []
    for request in _requests(entries):
        shards += _put(api, stream, request)
    return shards


def read(api: HttpApi, stream: str) -> list[Record]:
    """All records of a stream: parents before children, each shard in its order."""
    shards = parents_first(active(api, stream))
    return [record for shard in shards for record in _read_shard(api, stream, shard)]


def _entry(number: int, record: NewRecord) -> dict[str, str]:
    key, data = record if isinstance(record, tuple) else (str(number), record)
    raw = data.encode() if isinstance(data, str) else data
    return {"PartitionKey": key, "Data": base64.b64encode(raw).decode()}


def _requests(entries: Sequence[dict[str, str]]) -> Iterator[list[dict[str, str]]]:
    """Split entries into requests within the limits of one request."""
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


def _put(api: HttpApi, stream: str, request: list[dict[str, str]]) -> list[str]:
    """Send a request until every entry is written. Returns the shard ids."""
    shards: dict[int, str] = {}
    until, attempt = time.monotonic() + _PUT_SECONDS, 0
    while True:
        left = [at for at in range(len(request)) if at not in shards]
        failed = _put_once(api, stream, request, left, shards)
        if failed is None:
            return [shards[at] for at in range(len(request))]
        if time.monotonic() > until:
            raise LocalKinesisError(
                f"stream {stream}: {len(request) - len(shards)} records were not written within "
                f"{_PUT_SECONDS:.0f} s. The last error was {failed}"
            )
        time.sleep(pause(attempt))
        attempt += 1


def _put_once(
    api: HttpApi,
    stream: str,
    request: list[dict[str, str]],
    left: list[int],
    shards: dict[int, str],
) -> str | None:
    """Send the entries left, and add the shards of those written. Returns the error of another."""
    entries = [request[at] for at in left]

    def send() -> dict[str, Any]:
        return api.call("PutRecords", StreamName=stream, Records=entries)

    answers = with_retries(send, is_throttled, FAULT_SECONDS)["Records"]
    shards.update(
        {
            at: answer["ShardId"]
            for at, answer in zip(left, answers, strict=True)
            if "ShardId" in answer
        }
    )
    return next((str(answer["ErrorCode"]) for answer in answers if "ErrorCode" in answer), None)


def _read_shard(api: HttpApi, stream: str, shard: Shard) -> Iterator[Record]:
    answer = ask(
        api,
        "GetShardIterator",
        StreamName=stream,
        ShardId=shard.id,
        ShardIteratorType="TRIM_HORIZON",
    )
    token: str | None = answer["ShardIterator"]
    while token:
        page = ask(api, "GetRecords", ShardIterator=token)
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
