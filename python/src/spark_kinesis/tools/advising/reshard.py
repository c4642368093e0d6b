"""Splits and merges shards, one call after the other."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from spark_kinesis._boto import aws_errors, code_of
from spark_kinesis._errors import SparkKinesisError
from spark_kinesis.tools.facts.streams import HASH_KEYS, describe, list_shards

from .layout import Merge, Split, Step, next_step

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient

    from spark_kinesis.tools.facts.streams import StreamShard

PERIOD_SECONDS = 1.5  # an account can describe 20 streams per second
_CHECKS = 1200  # of a stream that is changed: half an hour
_ATTEMPTS = 5
# Another change is under way, or a call whose answer was lost has closed the shard already.
_PASSING = ("ResourceInUseException", "InvalidArgumentException")


def reshard(
    client: KinesisClient,
    arn: str,
    *,
    initial: Collection[int],
    wanted: Collection[int],
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[Step]:
    """Split and merge until the stream has the wanted shards.

    What is to do follows from the present shards alone, so a run after an interruption continues.

    Args:
        client: client of Kinesis, which makes a call again that is refused for a while.
        arn: ARN of the stream.
        initial: lowest hash keys of the shards when the advice was given.
        wanted: lowest hash keys of the wanted shards.
        sleep: waits for a number of seconds.

    Yields:
        Each step, after it took effect.

    Raises:
        SparkKinesisError: if somebody else changes the shards, or the stream does not become
            active.
        botocore.exceptions.ClientError: if a call fails for good, or too often.
    """

    def next_one() -> Step | None:
        present = _present(client, arn, sleep)
        strange = [it for it in present if it.first_key not in {*initial, *wanted}]
        if strange:
            raise SparkKinesisError(
                f"shard {strange[0].id} of {arn} begins at hash key {strange[0].first_key}, which "
                "is neither in the advice nor in the shards that it was given for: somebody else "
                "splits or merges. Ask for advice again."
            )
        return next_step(present, wanted)

    while step := next_one():
        refused, is_made = 0, False
        for _ in range(_CHECKS):
            if not is_made:
                try:
                    _call(client, arn, step)
                    is_made = True
                except aws_errors() as error:
                    refused += 1
                    if refused == _ATTEMPTS or code_of(error) not in _PASSING:
                        raise
            sleep(PERIOD_SECONDS)
            if next_one() != step:  # the listing may be late
                yield step
                break
        else:
            raise SparkKinesisError(
                f"{arn} accepted the last call for {step.shard}, but still lists that shard as "
                "open. Run the command again."
            )


def _call(client: KinesisClient, arn: str, step: Step) -> None:
    if isinstance(step, Split):
        client.split_shard(StreamARN=arn, ShardToSplit=step.shard, NewStartingHashKey=str(step.at))
    else:
        client.merge_shards(
            StreamARN=arn, ShardToMerge=step.shard, AdjacentShardToMerge=step.adjacent
        )


def _present(client: KinesisClient, arn: str, sleep: Callable[[float], None]) -> list[StreamShard]:
    """The open shards when the stream is active, and its listing has each hash key once."""
    status = ""
    for _ in range(_CHECKS):
        status = describe(client, arn).status
        found = open_shards(client, arn) if status == "ACTIVE" else []
        if (
            found
            and (found[0].first_key, found[-1].last_key) == (0, HASH_KEYS - 1)
            and all(low.last_key + 1 == high.first_key for low, high in pairwise(found))
        ):
            return found
        if status == "DELETING":
            break
        sleep(PERIOD_SECONDS)
    raise SparkKinesisError(
        f"{arn} is {status}, and its listing does not cover all hash keys once. Run the command "
        "again when nothing else changes the stream."
    )


def open_shards(client: KinesisClient, arn: str) -> list[StreamShard]:
    """The open shards of a stream, by hash key."""
    return sorted(
        (it for it in list_shards(client, arn) if it.is_open), key=lambda it: it.first_key
    )


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
