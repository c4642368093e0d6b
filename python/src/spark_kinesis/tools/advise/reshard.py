"""Splits and merges shards, one call after the other."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from spark_kinesis._errors import SparkKinesisError
from spark_kinesis.stream import describe, list_shards
from spark_kinesis.stream.shards import HASH_KEYS

from .layout import HashRange, Merge, Split, Step, next_step

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient

PERIOD_SECONDS = 1.5  # an account can describe 20 streams per second
_CHECKS = 1200  # of a stream that is changed: half an hour
_ATTEMPTS = 5
# Another change is under way, or a call whose answer was lost has closed the shard already.
_PASSING = ("ResourceInUseException", "InvalidArgumentException")


@dataclass(kw_only=True)
class Reshard:
    """A change of the shards of a stream.

    What is to do follows from the present shards alone, so a run after an interruption continues.

    Attributes:
        client: client of Kinesis, which makes a call again that is refused for a while.
        arn: ARN of the stream.
        initial: lowest hash keys of the shards when the advice was given.
        wanted: lowest hash keys of the wanted shards.
        sleep: waits for a number of seconds.
        done: the steps that took effect.
    """

    client: KinesisClient
    arn: str
    initial: Collection[int]
    wanted: Collection[int]
    sleep: Callable[[float], None] = time.sleep
    done: list[Step] = field(default_factory=list)

    def run(self, on_step: Callable[[Step], None]) -> None:
        """Split and merge until the stream has the wanted shards. ``done`` grows meanwhile.

        Args:
            on_step: called with each step before its call.

        Raises:
            SparkKinesisError: if somebody else changes the shards, or the stream does not become
                active.
            botocore.exceptions.ClientError: if a call fails for good, or too often.
        """
        while step := next_step(self._present(), self.wanted):
            on_step(step)
            self._perform(step)
            self.done.append(step)

    def _perform(self, step: Step) -> None:
        """Make a call, and return when the listing shows its effect."""
        from botocore.exceptions import ClientError  # noqa: PLC0415 optional

        for attempt in range(1, _ATTEMPTS + 1):
            try:
                self._call(step)
                break
            except ClientError as error:
                if attempt == _ATTEMPTS or error.response["Error"]["Code"] not in _PASSING:
                    raise
            self.sleep(PERIOD_SECONDS)
            if next_step(self._present(), self.wanted) != step:
                return
        for _ in range(_CHECKS):
            self.sleep(PERIOD_SECONDS)
            if next_step(self._present(), self.wanted) != step:
                return
        raise SparkKinesisError(
            f"{self.arn} accepted the last call for {step.shard}, but still lists that shard as "
            "open. Run the command again."
        )

    def _call(self, step: Step) -> None:
        if isinstance(step, Split):
            self.client.split_shard(
                StreamARN=self.arn, ShardToSplit=step.shard, NewStartingHashKey=str(step.at)
            )
        else:
            self.client.merge_shards(
                StreamARN=self.arn, ShardToMerge=step.shard, AdjacentShardToMerge=step.adjacent
            )

    def _present(self) -> list[HashRange]:
        """The open shards when the stream is active, and its listing is whole."""
        status = "UPDATING"
        for _ in range(_CHECKS):
            status = describe(self.client, self.arn).status
            found = open_shards(self.client, self.arn) if status == "ACTIVE" else []
            if _is_whole(found):
                break
            if status == "DELETING":
                raise SparkKinesisError(f"{self.arn} is being deleted")
            self.sleep(PERIOD_SECONDS)
        else:
            raise SparkKinesisError(
                f"{self.arn} is {status}, and its listing does not cover all hash keys once. Run "
                "the command again when nothing else changes the stream."
            )
        strange = [it for it in found if it.first_key not in {*self.initial, *self.wanted}]
        if strange:
            raise SparkKinesisError(
                f"shard {strange[0].id} of {self.arn} begins at hash key {strange[0].first_key}, "
                "which is neither in the advice nor in the shards that it was given for: somebody "
                "else splits or merges. Ask for advice again."
            )
        return found


def open_shards(client: KinesisClient, arn: str) -> list[HashRange]:
    """The open shards of a stream."""
    return [
        HashRange(id=it.id, first_key=it.first_key, last_key=it.last_key)
        for it in list_shards(client, arn)
        if it.is_open
    ]


def need_room(steps: Collection[Step], limits: Any) -> None:
    """Check the shard limit of the account before the first call.

    Args:
        steps: all steps, in their order.
        limits: the answer of ``DescribeLimits``.

    Raises:
        SparkKinesisError: if the account would have more shards than its limit at any time.
    """
    count = most = 0
    for step in steps:
        count += -1 if isinstance(step, Merge) else 1
        most = max(most, count)
    limit, present = limits["ShardLimit"], limits["OpenShardCount"]
    if present + most > limit:
        raise SparkKinesisError(
            f"the account has {present} open shards in this region, and its limit is {limit}. The "
            f"change needs {most} more for a while. Ask AWS for a higher limit, or set a higher "
            "--target."
        )


def _is_whole(shards: Collection[HashRange]) -> bool:
    """Whether each hash key is in exactly one shard."""
    ordered = sorted(shards, key=lambda it: it.first_key)
    return (
        bool(ordered)
        and ordered[0].first_key == 0
        and ordered[-1].last_key == HASH_KEYS - 1
        and all(low.last_key + 1 == high.first_key for low, high in pairwise(ordered))
    )
