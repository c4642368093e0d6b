"""How calls are repeated: the pauses between attempts, and records that Kinesis has refused."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._errors import SparkKinesisError

FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.05, 1.0
_LAST_DOUBLING = 10
REQUEST_RECORDS, _REQUEST_BYTES = 500, 5 * 1024 * 1024


def pause(attempt: int, chance: Callable[[], float] = random.random) -> float:
    """The seconds to wait after a failed attempt.

    The maximum doubles with each attempt, up to one second. The result is a random part of it.

    Args:
        attempt: number of the attempt, starting at 0.
        chance: returns a number from 0 to 1.
    """
    doubled = FIRST_PAUSE_SECONDS * float(2 ** min(attempt, _LAST_DOUBLING))
    return min(LONGEST_PAUSE_SECONDS, doubled) * chance()


@dataclass(frozen=True, kw_only=True, slots=True)
class Put:
    """How records were written."""

    shards: list[str]  # ID of the shard of each record
    resent: int  # how often a record was sent again


def put_all(
    send: Callable[[list[Any]], Mapping[str, Any]],
    entries: Sequence[Any],
    *,
    stream: str,
    seconds: float,
    error: type[SparkKinesisError],
    now: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Put:
    """Write records, and again those that were refused, until all are written.

    A request has at most 500 records and, unless a record is larger, 5 MiB, as every server allows.

    Args:
        send: sends entries with ``PutRecords``, and returns the answer.
        entries: the records. The next request follows when the one before is written.
        stream: name or ARN, for the error.
        seconds: time after which no record of a request is sent again.
        error: what is raised if some records are still refused then.
        now: seconds of a clock that never goes back.
        sleep: waits for a number of seconds.
    """
    shards: list[str] = []
    resent = 0
    for request in _requests(entries):
        written: dict[int, str] = {}
        until, attempt = now() + seconds, 0
        while codes := _send_rest(send, request, written):
            if now() >= until:
                raise error(
                    f"stream {stream}: {len(codes)} records were not written within {seconds:.0f} "
                    f"s. The last error was {codes[-1]}"
                )
            resent += len(codes)
            sleep(pause(attempt))
            attempt += 1
        shards += [written[at] for at in range(len(request))]
    return Put(shards=shards, resent=resent)


def _send_rest(
    send: Callable[[list[Any]], Mapping[str, Any]], request: Sequence[Any], written: dict[int, str]
) -> list[str]:
    """Send what is not written yet, and note what is. Returns the errors of the rest."""
    left = [at for at in range(len(request)) if at not in written]
    answers = send([request[at] for at in left]).get("Records", ())
    if len(answers) != len(left):  # boto3 accepts an answer that was cut
        return ["CutAnswer"] * len(left)
    told = dict(zip(left, answers, strict=True))
    written |= {at: it["ShardId"] for at, it in told.items() if "ErrorCode" not in it}
    return [it["ErrorCode"] for it in told.values() if "ErrorCode" in it]


def _requests(entries: Sequence[Any]) -> Iterator[list[Any]]:
    """Entries in groups that fit into a request."""
    request, size = list[Any](), 0
    for entry in entries:
        more = len(entry["Data"]) + len(entry["PartitionKey"].encode())
        if request and (len(request) == REQUEST_RECORDS or size + more > _REQUEST_BYTES):
            yield request
            request, size = [], 0
        request.append(entry)
        size += more
    if request:
        yield request
