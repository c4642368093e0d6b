"""How calls are repeated: the pauses between attempts, and records that Kinesis has refused."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._errors import SparkKinesisError

FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.05, 1.0
_LAST_DOUBLING = 10


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
    refused: Counter[str]  # how often a record was refused, by the code of the error

    @property
    def resent(self) -> int:
        """How often a record was sent again."""
        return self.refused.total()


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
    """Write records in one request, and again those that were refused, until all are written.

    Args:
        send: sends entries with ``PutRecords``, and returns the answer.
        entries: as many as fit in one request.
        stream: name or ARN, for the error.
        seconds: time after which no record is sent again.
        error: what is raised if some records are still refused then.
        now: seconds of a clock that never goes back.
        sleep: waits for a number of seconds.
    """
    shards: dict[int, str] = {}
    refused: Counter[str] = Counter()
    until, attempt = now() + seconds, 0
    while True:
        left = [at for at in range(len(entries)) if at not in shards]
        answers = send([entries[at] for at in left]).get("Records", ())
        if len(answers) != len(left):  # boto3 accepts an answer that was cut
            answers = [{"ErrorCode": "CutAnswer"}] * len(left)
        for at, answer in zip(left, answers, strict=True):
            if "ErrorCode" not in answer:
                shards[at] = answer["ShardId"]
        codes = [it["ErrorCode"] for it in answers if "ErrorCode" in it]
        if not codes:
            return Put(shards=[shards[at] for at in range(len(entries))], refused=refused)
        if now() >= until:
            raise error(
                f"stream {stream}: {len(codes)} records were not written within {seconds:.0f} s. "
                f"The last error was {codes[-1]}"
            )
        refused.update(codes)
        sleep(pause(attempt))
        attempt += 1
