"""Measures a stream."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from spark_kinesis._times import utc_now
from spark_kinesis.tools.facts.cloudwatch import Query, Series, read_metrics
from spark_kinesis.tools.facts.streams import (
    Advance,
    StreamShard,
    StreamSummary,
    ask_each,
    describe,
    list_shards,
)

from .combine import OF_SHARD, OF_STREAM, Facts, shard_loads, traffic
from .notes import notes
from .sample import Window, read_sample

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient

    from spark_kinesis.advise.choices import Traffic
    from spark_kinesis.advise.shards import ShardLoad

    from .tally import ShardSample


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """What to measure.

    Attributes:
        stream: name or ARN.
        hours: time that the metrics cover.
        sample: time in which sampled records arrived.
        rows: number of records to sample per shard.
        readers: number of polling applications; ``None`` to estimate it.
        lag: how far the job is behind; ``None`` if it is unknown.
        most: target, for the notes.
    """

    stream: str
    hours: float
    sample: timedelta
    rows: int
    readers: int | None
    lag: timedelta | None = None
    most: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Measured:
    """What was measured.

    Attributes:
        summary: the settings of the stream.
        loads: the load of each open shard.
        traffic: the traffic as a whole.
        notes: how the figures were found.
    """

    summary: StreamSummary
    loads: tuple[ShardLoad, ...]
    traffic: Traffic
    notes: tuple[str, ...]


def measure(
    kinesis: KinesisClient,
    cloudwatch: Any | None,
    asked: Asked,
    advance: Advance,
) -> Measured:
    """Measure a stream.

    Args:
        kinesis: client of Kinesis.
        cloudwatch: client of CloudWatch; ``None`` to use the sample alone.
        asked: what to measure.
        advance: called with the number of shards that are sampled, and with that of all shards.

    Raises:
        botocore.exceptions.ClientError: if a call of Kinesis fails.
    """
    summary = describe(kinesis, asked.stream)
    now = _now(summary)
    shards = [it for it in list_shards(kinesis, summary.arn) if it.is_open]
    begin = max(now - timedelta(hours=asked.hours), summary.created)
    metrics, refusal = _metrics(cloudwatch, summary, shards, (begin, now))
    window = Window(since=now - asked.sample, span=asked.sample, rows=asked.rows)
    facts = Facts(
        summary=summary,
        shards=shards,
        samples=_samples(kinesis, summary.arn, shards, window, advance),
        metrics=metrics,
        window=now - begin,
        readers=asked.readers,
        lag=asked.lag,
    )
    loads = shard_loads(facts)
    return Measured(
        summary=summary,
        loads=tuple(loads),
        traffic=traffic(facts, loads),
        notes=(*refusal, *notes(facts, loads, asked.most)),
    )


def _now(summary: StreamSummary) -> datetime:
    """The time by the clock of the service, which also gives records their arrival times."""
    if summary.server_time is None:
        return utc_now()
    return summary.server_time + timedelta(seconds=1)  # it was rounded down


def _metrics(
    client: Any | None,
    summary: StreamSummary,
    shards: Sequence[StreamShard],
    window: tuple[datetime, datetime],
) -> tuple[Mapping[Query, Series], tuple[str, ...]]:
    """The metrics, and why there are none."""
    if client is None:
        return {}, ()
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 optional

    queries = list(OF_STREAM)
    if {"IncomingBytes", "ALL"} & set(summary.shard_metrics):
        queries += [Query(it.metric, shard.id) for shard in shards for it in OF_SHARD]
    try:
        return read_metrics(client, summary.name, queries, *window), ()
    except (BotoCoreError, ClientError) as error:
        return {}, (f"CloudWatch is not used: {error}",)


def _samples(
    client: KinesisClient,
    arn: str,
    shards: Sequence[StreamShard],
    window: Window,
    advance: Advance,
) -> dict[str, ShardSample]:
    def sample(shard: StreamShard) -> ShardSample:
        return read_sample(client, arn, shard, window, time.sleep)

    return {it.shard: it for it in ask_each(sample, shards, advance)}
