"""Reads shards one after the other at a bounded rate, and follows splits and merges."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from spark_kinesis._errors import SparkKinesisError
from spark_kinesis.tools.facts.records import THROTTLED, pause_after

from .lineage import Lineage
from .start import LATEST, Start

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient

SHARE = 1 / 5  # of the read quota of a shard
_LIMIT = 1000
_ATTEMPTS = 8
_LONGEST_PAUSE_SECONDS = 10.0
_EXPIRED = "ExpiredIteratorException"


@dataclass(kw_only=True, slots=True)
class Cursor:
    """How far a shard has been read.

    Attributes:
        shard: ID of the shard.
        due: when the next call may be made, in seconds.
        start: where it begins.
        iterator: its iterator; ``None`` before the first call, and after the iterator has expired.
        last: sequence number of the last record.
        refused: number of calls in a row that the shard refused.
        is_at_tip: whether the last page had all records.
    """

    shard: str
    due: float
    start: Start
    iterator: str | None = None
    last: str | None = None
    refused: int = 0
    is_at_tip: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Times:
    """The clock.

    Attributes:
        now: returns seconds of a monotonic clock.
        sleep: waits for a number of seconds.
        chance: returns a number from 0 to 1.
    """

    now: Callable[[], float]
    sleep: Callable[[float], None]
    chance: Callable[[], float]


class Follower:
    """Reads shards and, after their end, their children.

    Args:
        client: client of Kinesis.
        arn: ARN of the stream.
        start: where each shard begins.
        first: IDs of the shards to begin with.
        waits_for_all: see ``Lineage``.
        times: the clock.
    """

    def __init__(
        self,
        client: KinesisClient,
        arn: str,
        *,
        start: Start,
        first: Sequence[str],
        waits_for_all: bool,
        times: Times,
    ) -> None:
        """Call nothing yet."""
        self._client = client
        self._arn = arn
        self._times = times
        self._lineage = Lineage(first, waits_for_all=waits_for_all)
        self._cursors = [Cursor(shard=shard, due=times.now(), start=start) for shard in first]

    def pages(self, *, until_tip: bool) -> Iterator[tuple[str, Sequence[Any]]]:
        """Each page with the ID of its shard, until no shard is left.

        Args:
            until_tip: whether to end when all records are read, instead of waiting for more.

        Raises:
            SparkKinesisError: if a shard refuses all calls, because others use up its quota.
            botocore.exceptions.ClientError: if a call fails for another reason.
        """
        while self._cursors:
            if until_tip and all(it.is_at_tip for it in self._cursors):
                return
            cursor = min(self._cursors, key=lambda it: (until_tip and it.is_at_tip, it.due))
            wait = cursor.due - self._times.now()
            if wait > 0:
                self._times.sleep(wait)
            answer = self._call(cursor)
            if answer is not None:
                yield cursor.shard, answer["Records"]
                self._advance(cursor, answer)

    def _call(self, cursor: Cursor) -> Any | None:
        """The next page; ``None`` if the call is to be made again."""
        from botocore.exceptions import ClientError  # noqa: PLC0415 optional

        try:
            if cursor.iterator is None:
                cursor.iterator = self._iterator(cursor)
            answer = self._client.get_records(
                ShardIterator=cursor.iterator, Limit=_LIMIT, StreamARN=self._arn
            )
        except ClientError as error:
            code = error.response["Error"]["Code"]
            if code == _EXPIRED:
                self._renew(cursor, error)
            elif code == THROTTLED:
                self._back_off(cursor, error)
            else:
                raise
            return None
        cursor.refused = 0
        return answer

    def _iterator(self, cursor: Cursor) -> str:
        after = {
            "ShardIteratorType": "AFTER_SEQUENCE_NUMBER",
            "StartingSequenceNumber": cursor.last,
        }
        request: dict[str, Any] = cursor.start.request if cursor.last is None else after
        return self._client.get_shard_iterator(
            StreamARN=self._arn, ShardId=cursor.shard, **request
        )["ShardIterator"]

    def _renew(self, cursor: Cursor, error: Exception) -> None:
        if cursor.last is None and cursor.start.kind == LATEST:
            raise SparkKinesisError(
                f"shard {cursor.shard} of {self._arn} was not read for five minutes, before its "
                "first record: records may have come meanwhile. Start again with --from 10m."
            ) from error
        cursor.iterator = None

    def _back_off(self, cursor: Cursor, error: Exception) -> None:
        cursor.refused += 1
        if cursor.refused >= _ATTEMPTS:
            raise SparkKinesisError(
                f"shard {cursor.shard} of {self._arn} refused {_ATTEMPTS} reads in a row: other "
                "readers use up its quota of five calls and 2 MiB per second. Read fewer shards "
                "with --shard, or stop another reader."
            ) from error
        longest = min(_LONGEST_PAUSE_SECONDS, 2.0**cursor.refused)
        cursor.due = self._times.now() + pause_after((), SHARE) + longest * self._times.chance()

    def _advance(self, cursor: Cursor, answer: Any) -> None:
        records = answer["Records"]
        if records:
            cursor.last = records[-1]["SequenceNumber"]
        cursor.iterator = answer.get("NextShardIterator")
        cursor.is_at_tip = not answer.get("MillisBehindLatest", 0)
        cursor.due = self._times.now() + pause_after(records, SHARE)
        if cursor.iterator is None:
            self._cursors.remove(cursor)
            born = {it["ShardId"]: it["ParentShards"] for it in answer.get("ChildShards", ())}
            ready = self._lineage.end(cursor.shard, born)
            start = cursor.start.of_children
            self._cursors += [Cursor(shard=it, due=self._times.now(), start=start) for it in ready]
