"""The DataFrames of a source: streaming, batch and replay."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from spark_kinesis._options.positions import Latest
from spark_kinesis._options.replays import replay_options
from spark_kinesis._session.missing import FORMAT, explain_missing_jar

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping

    from pyspark.sql import DataFrame, DataFrameReader, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamReader

    from .source import KinesisSource


def stream_frame(source: KinesisSource, spark: SparkSession) -> DataFrame:
    """A streaming DataFrame.

    Raises:
        ValueError: as ``KinesisSource.read_stream``.
    """
    if source.ending_position is not None:
        raise ValueError("ending_position is for read(): a streaming query has no end")
    return _frame(source, spark, spark.readStream)


def batch_frame(source: KinesisSource, spark: SparkSession) -> DataFrame:
    """A batch DataFrame.

    Raises:
        ValueError: as ``KinesisSource.read``.
    """
    for name in ("max_records_per_trigger", "max_bytes_per_trigger"):
        if getattr(source, name) is not None:
            raise ValueError(f"{name} is for read_stream(): a batch read has one batch")
    if source.starting_position == Latest():
        raise ValueError(
            "starting_position is Latest(), so that a batch read would be empty: choose "
            "TrimHorizon(), AtTimestamp or ByShard"
        )
    return _frame(source, spark, spark.read)


def replay_frame(
    source: KinesisSource,
    spark: SparkSession,
    checkpoint: str | os.PathLike[str],
    batches: int | Iterable[int],
    replayed: int | str | None,
) -> DataFrame:
    """A batch DataFrame of the rows of micro-batches.

    Args:
        source: how to reach the streams.
        spark: the session that reads.
        checkpoint: ``checkpointLocation`` of the query.
        batches: numbers of the micro-batches.
        replayed: number or name of the source in the query. ``None`` for the only one.

    Raises:
        TypeError: as ``KinesisSource.replay``.
        ValueError: as ``KinesisSource.replay``.
    """
    if source.ending_position is not None:
        raise ValueError("ending_position is for read(): the batches of a replay have an end")
    return _frame(source, spark, spark.read, replay_options(checkpoint, batches, replayed))


def _frame(
    source: KinesisSource,
    spark: SparkSession,
    reader: DataFrameReader | DataStreamReader,
    others: Mapping[str, str] = MappingProxyType({}),
) -> DataFrame:
    with explain_missing_jar(spark):
        frame = reader.format(FORMAT).options(**source.options(), **others).load()
        _ = frame.schema  # Connect resolves lazily: ask now, so that errors are raised here
        return frame
