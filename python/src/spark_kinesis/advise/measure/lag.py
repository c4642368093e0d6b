"""How far a query is behind, from its checkpoint."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from spark_kinesis._errors import CheckpointError
from spark_kinesis.tools.facts.checkpoints import Checkpoint, next_positions
from spark_kinesis.tools.facts.offsets import Progress, ShardOffset
from spark_kinesis.tools.facts.records import THROTTLED, Probe, probe
from spark_kinesis.tools.facts.streams import Advance, ask_each, named

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient

_UNKNOWN = {
    "ResourceNotFoundException": "all records there have expired",
    THROTTLED: "other readers use up the read quota",
    "LimitExceededException": "other calls use up a limit of the account",
    "ThrottlingException": "other calls use up a limit of the account",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Lag:
    """How far a query is behind.

    Attributes:
        age: age of the oldest record that it has not read, in the shards that could be read.
            ``None`` if none of them could be read.
        unknown: the shards that could not be read, with the service's name of the error.
    """

    age: timedelta | None
    unknown: Mapping[str, str] = field(default_factory=dict)

    def notes(self) -> Iterator[str]:
        """Which shards the lag does not contain, and why."""
        for why in dict.fromkeys(_UNKNOWN[code] for code in self.unknown.values()):
            shards = [shard for shard, code in self.unknown.items() if _UNKNOWN[code] == why]
            yield f"The lag does not contain {named(shards)}: {why}."


def lag_of(
    client: KinesisClient, checkpoint: Checkpoint, arn: str, now: datetime, advance: Advance
) -> Lag:
    """The age of the oldest record that the query has not read.

    It reads one record per shard, from ten shards at once. A shard that has expired, or whose reads
    are refused because of a limit, is unknown.

    Args:
        client: client of Kinesis.
        checkpoint: the checkpoint.
        arn: ARN of the stream.
        now: time of the service.
        advance: called with the number of shards that are read, and with that of all shards.

    Raises:
        CheckpointError: if the checkpoint has no position, or not this stream.
        botocore.exceptions.ClientError: if a call fails for another reason.
    """
    places = _places(checkpoint, arn)
    asked = ask_each(lambda it: _asked(client, arn, *it), places, advance)
    found = [it.age(now) for it in asked if isinstance(it, Probe)]
    unknown = {
        shard: it for (shard, _), it in zip(places, asked, strict=True) if isinstance(it, str)
    }
    return Lag(age=max(found, default=None if unknown else timedelta()), unknown=unknown)


def _places(checkpoint: Checkpoint, arn: str) -> list[tuple[str, ShardOffset]]:
    """Where the query continues in each shard that it has not finished, in all its sources."""
    positions = next_positions(checkpoint).values()
    streams = [it.streams[arn] for it in positions if arn in it.streams]
    if not streams:
        raise CheckpointError(
            f"the query of the checkpoint {checkpoint.location} does not read {arn}"
        )
    return [
        (shard, offset)
        for stream in streams
        for shard, offset in stream.shards.items()
        if offset.progress is not Progress.FINISHED
    ]


def _asked(client: KinesisClient, arn: str, shard: str, offset: ShardOffset) -> Probe | str:
    """What a read found, or the service's name of the error."""
    from botocore.exceptions import ClientError  # noqa: PLC0415 optional

    try:
        return probe(client, arn, shard, offset)
    except ClientError as error:
        code = error.response["Error"]["Code"]
        if code not in _UNKNOWN:
            raise
        return code
