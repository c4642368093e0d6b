"""A side of a comparison, from its text on the command line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from spark_kinesis import KinesisSource, SparkKinesisError
from spark_kinesis.tools.history import read_numbers

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from spark_kinesis.cli import Connection
    from spark_kinesis.tools.facts.checkpoints import Checkpoint

STREAM, CHECKPOINT, TABLE = "stream", "checkpoint", "table"


@dataclass(frozen=True)
class Side:
    """Where rows come from.

    Attributes:
        kind: ``stream``, ``checkpoint``, ``table``, or the name of a format of Spark.
        place: name of a stream or table, or a folder.
        batches: with ``checkpoint`` the IDs of the micro-batches.
    """

    kind: str
    place: str
    batches: tuple[int, ...] = ()


def parse(text: str) -> Side:
    """The side that a text names.

    Args:
        text: ``stream:orders``, ``checkpoint:/checkpoints/orders#120-124``,
            ``table:lake.orders``, or a format and a path, such as ``parquet:/lake/orders``.

    Raises:
        SparkKinesisError: if the text has another form.
    """
    kind, colon, place = text.partition(":")
    if not colon or not kind or not place:
        raise SparkKinesisError(
            f"{text!r} names no rows. Write stream:NAME, checkpoint:PATH#120-124, table:NAME, or "
            "a format of Spark and a path, such as parquet:PATH."
        )
    if kind != CHECKPOINT:
        return Side(kind, place)
    folder, hash_sign, numbers = place.rpartition("#")
    if not hash_sign:
        raise SparkKinesisError(
            f"{text!r} names no micro-batches: write them after #, such as {text}#120-124. "
            f"`spark-kinesis batches --checkpoint {place}` lists them."
        )
    return Side(CHECKPOINT, folder, tuple(read_numbers(numbers)))


def rows(
    side: Side,
    spark: SparkSession,
    connection: Connection,
    source: str | None = None,
    **positions: Any,
) -> DataFrame:
    """The rows of a side.

    Args:
        side: where they come from.
        spark: the session.
        connection: which Kinesis to call, and as whom.
        source: number or name of the source in a checkpoint; default: the only Kinesis source.
        positions: its arguments ``starting_position`` and ``ending_position``, for a stream.
    """
    if side.kind == STREAM:
        given: dict[str, Any] = {
            "stream_arn" if side.place.startswith("arn:") else "stream_name": side.place
        }
        return KinesisSource(**given, **connection.source_arguments(), **positions).read(spark)
    if side.kind == CHECKPOINT:
        number, arns = _streams(connection.checkpoint(side.place), side.batches[-1], source)
        replayed = KinesisSource(stream_arn=arns, **connection.source_arguments())
        place = _hadoop(spark, side.place)
        return replayed.replay(spark, checkpoint=place, batches=side.batches, source=number)
    if side.kind == TABLE:
        return spark.table(side.place)
    return spark.read.format(side.kind).load(_hadoop(spark, side.place))


def _hadoop(spark: SparkSession, place: str) -> str:
    """The place as Spark knows it. Outside Amazon EMR, Hadoop knows S3 only as ``s3a:``."""
    if not place.startswith("s3://"):
        return place
    hadoop = spark.sparkContext._jsc.hadoopConfiguration()  # noqa: SLF001 there is no public way
    return place if hadoop.get("fs.s3.impl") else f"s3a{place.removeprefix('s3')}"


def _streams(checkpoint: Checkpoint, newest: int, source: str | None) -> tuple[str, list[str]]:
    batch = checkpoint.batch(newest)
    number = checkpoint.source(batch, source)
    return number, list(checkpoint.position(batch, number).streams)
