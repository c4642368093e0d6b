"""Makes the splits and merges, paced by the service's limits.

Limits: five calls of ``SplitShard`` and of ``MergeShards`` per second and account, one change of a
stream at a time, and the shard limit of the account. Source: the API reference of both operations.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from spark_kinesis._backoff import pause
from spark_kinesis._boto import TRANSIENT
from spark_kinesis._errors import SparkKinesisError
from spark_kinesis.advise.shards import HashRange, Split, Step, next_step
from spark_kinesis.tools.facts.streams import HASH_KEYS, describe, list_shards

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient

PERIOD_SECONDS = 1.0  # an account can describe 20 streams per second
_LONGEST_CHANGE_CHECKS = 1800
_LISTING_CHECKS = 60
_ATTEMPTS = 10
_LONGEST_PAUSE_SECONDS = 30.0
_OTHER_CHANGE = "ResourceInUseException"
# A call that was repeated because its answer was lost finds its shard closed.
_CLOSED = "InvalidArgumentException"
_CLOSED_ATTEMPTS = 3  # until the listing shows it


@dataclass(frozen=True, kw_only=True, slots=True)
class Times:
    """Waiting.

    Attributes:
        sleep: waits for a number of seconds.
        chance: returns a number from 0 to 1.
    """

    sleep: Callable[[float], None]
    chance: Callable[[], float]


class Reshard:
    """A change of the shards of a stream.

    What is to do follows from the present shards alone, so a run after an interruption continues.

    Args:
        client: client of Kinesis.
        arn: ARN of the stream.
        initial: lowest hash keys of the shards when the advice was given.
        wanted: lowest hash keys of the wanted shards.
        times: waiting.
    """

    def __init__(
        self,
        client: KinesisClient,
        arn: str,
        *,
        initial: Collection[int],
        wanted: Collection[int],
        times: Times,
    ) -> None:
        """Call nothing yet."""
        self.done: list[Step] = []
        self._client = client
        self._arn = arn
        self._known = frozenset(initial) | frozenset(wanted)
        self._wanted = frozenset(wanted)
        self._times = times

    def run(self, on_step: Callable[[Step], None]) -> None:
        """Split and merge until the stream has the wanted shards. ``done`` grows meanwhile.

        Args:
            on_step: called with each step before its call.

        Raises:
            SparkKinesisError: if somebody else changes the shards, or the stream does not become
                active.
            botocore.exceptions.ClientError: if a call fails for good, or too often.
        """
        while step := next_step(self._present(), self._wanted):
            if self.done and step == self.done[-1]:
                self._await_listing(step)
                continue
            on_step(step)
            self._perform(step)

    def _perform(self, step: Step) -> None:
        """Make a call, again while it fails for a reason that may pass."""
        from botocore.exceptions import ClientError  # noqa: PLC0415 optional

        for attempt in range(_ATTEMPTS):
            try:
                self._call(step)
            except ClientError as error:
                if attempt + 1 >= _attempts(error.response["Error"]["Code"]):
                    raise
                self._times.sleep(min(_LONGEST_PAUSE_SECONDS, 2.0**attempt) * self._jitter())
                if next_step(self._present(), self._wanted) == step:
                    continue
            self.done.append(step)
            return

    def _call(self, step: Step) -> None:
        if isinstance(step, Split):
            self._client.split_shard(
                StreamARN=self._arn, ShardToSplit=step.shard, NewStartingHashKey=str(step.at)
            )
        else:
            self._client.merge_shards(
                StreamARN=self._arn, ShardToMerge=step.shard, AdjacentShardToMerge=step.adjacent
            )

    def _jitter(self) -> float:
        return 0.5 + self._times.chance() / 2

    def _present(self) -> list[HashRange]:
        """The open shards when the stream is active, and its listing is whole."""
        self._await_active()
        for attempt in range(_LISTING_CHECKS):
            found = [
                HashRange(id=it.id, first_key=it.first_key, last_key=it.last_key)
                for it in list_shards(self._client, self._arn)
                if it.is_open
            ]
            if is_whole(found):
                self._refuse_strangers(found)
                return found
            self._times.sleep(PERIOD_SECONDS + pause(attempt, self._times.chance))
        raise SparkKinesisError(
            f"the listing of {self._arn} does not cover all hash keys once. Run the command again "
            "when the stream is not changed by anything else."
        )

    def _refuse_strangers(self, found: Collection[HashRange]) -> None:
        strange = [it for it in found if it.first_key not in self._known]
        if strange:
            raise SparkKinesisError(
                f"shard {strange[0].id} of {self._arn} begins at hash key {strange[0].first_key}, "
                "which is neither in the advice nor in the shards that it was given for: somebody "
                "else splits or merges. Ask for advice again."
            )

    def _await_active(self) -> None:
        for attempt in range(_LONGEST_CHANGE_CHECKS):
            status = describe(self._client, self._arn).status
            if status == "ACTIVE":
                return
            if status == "DELETING":
                break
            self._times.sleep(PERIOD_SECONDS + pause(attempt, self._times.chance))
        raise SparkKinesisError(
            f"{self._arn} is still {status}. Run the command again when it is ACTIVE."
        )

    def _await_listing(self, step: Step) -> None:
        """Wait until the listing shows the last step: it may be late."""
        for attempt in range(_LISTING_CHECKS):
            self._times.sleep(PERIOD_SECONDS + pause(attempt, self._times.chance))
            if next_step(self._present(), self._wanted) != step:
                return
        raise SparkKinesisError(
            f"{self._arn} accepted the last call for {step.shard}, but still lists that shard as "
            "open. Run the command again."
        )


def _attempts(code: str) -> int:
    """How often a call is made that fails with this code."""
    if code == _CLOSED:
        return _CLOSED_ATTEMPTS
    return _ATTEMPTS if code in (*TRANSIENT, _OTHER_CHANGE) else 1


def is_whole(shards: Collection[HashRange]) -> bool:
    """Whether each hash key is in exactly one shard."""
    ordered = sorted(shards, key=lambda it: it.first_key)
    return (
        bool(ordered)
        and ordered[0].first_key == 0
        and ordered[-1].last_key == HASH_KEYS - 1
        and all(low.last_key + 1 == high.first_key for low, high in pairwise(ordered))
    )
