"""Splits and merges shards, one call after the other."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from spark_kinesis._boto import aws_errors, code_of
from spark_kinesis._errors import SparkKinesisError
from spark_kinesis.tools.facts.streams import HASH_KEYS, describe, list_shards

from .layout import Split, Step, next_step

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
) -> Iterator[Step]:
    """Split and merge until the stream has the wanted shards.

    What is to do follows from the present shards alone, so a run after an interruption continues.
    Shards are given by their lowest hash keys. Each step is yielded after it took effect.

    Raises:
        SparkKinesisError: if somebody else changes the shards, or the stream does not become
            active.
        botocore.exceptions.ClientError: if a call fails for good, or too often.
    """
    known = {*initial, *wanted}
    while step := next_step(_present(client, arn, known), wanted):
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
            time.sleep(PERIOD_SECONDS)
            if next_step(_present(client, arn, known), wanted) != step:  # the listing may be late
                yield step
                break
        else:
            raise SparkKinesisError(
                f"{arn} accepted the last call for {step.shard}, but still lists that shard as "
                "open. Run the command again."
            )


def _call(client: KinesisClient, arn: str, step: Step) -> None:
    names = {"StreamARN": arn}
    if isinstance(step, Split):
        client.split_shard(**names, ShardToSplit=step.shard, NewStartingHashKey=str(step.at))
    else:
        client.merge_shards(**names, ShardToMerge=step.shard, AdjacentShardToMerge=step.adjacent)


def _present(client: KinesisClient, arn: str, known: Collection[int]) -> list[StreamShard]:
    """The open shards when the stream is active, and its listing has each hash key once."""
    status = ""
    for _ in range(_CHECKS):
        status = describe(client, arn).status
        found = open_shards(client, arn) if status == "ACTIVE" else []
        strange = next((it for it in found if it.first_key not in known), None)
        if strange is not None:
            raise SparkKinesisError(
                f"shard {strange.id} of {arn} begins at hash key {strange.first_key}, which is "
                "neither in the advice nor in the shards that it was given for: somebody else "
                "splits or merges. Ask for advice again."
            )
        if [0, *(it.last_key + 1 for it in found)] == [*(it.first_key for it in found), HASH_KEYS]:
            return found
        if status == "DELETING":
            break
        time.sleep(PERIOD_SECONDS)
    raise SparkKinesisError(
        f"{arn} is {status}, and its listing does not cover all hash keys once. Run the command "
        "again when nothing else changes the stream."
    )


def open_shards(client: KinesisClient, arn: str) -> list[StreamShard]:
    """The open shards of a stream, by hash key."""
    return sorted(
        (it for it in list_shards(client, arn) if it.is_open), key=lambda it: it.first_key
    )
