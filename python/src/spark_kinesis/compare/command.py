"""The command ``spark-kinesis diff``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click
from rich.table import Table

from spark_kinesis import (
    AtTimestamp,
    MissingPackageError,
    SparkKinesisError,
    TrimHorizon,
    with_kinesis,
)
from spark_kinesis._times import utc_now
from spark_kinesis.cli import SOURCE, Connection, connection_options, print_json, screen
from spark_kinesis.cli.times import FORMS, TIME
from spark_kinesis.tools.facts.files import shown

from .difference import IDENTITY, Difference, compare
from .sides import STREAM, parse, rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DIFFERENT = 1


@click.command("diff")
@click.argument("left")
@click.argument("right")
@click.option(
    "--key",
    default=",".join(IDENTITY),
    show_default=True,
    metavar="COLUMNS",
    help="columns that identify a row, separated by commas",
)
@click.option(
    "--compare", "columns", default="", metavar="COLUMNS", help="further columns to compare"
)
@click.option("--since", type=TIME, help=f"start of the streams: {FORMS}")
@click.option("--until", type=TIME, help="end of the streams, in the same form (default: now)")
@click.option("--source", type=SOURCE, help="number or name of the source, if a query has several")
@click.option("--json", "as_json", is_flag=True, help="print JSON")
@connection_options
@click.pass_context
def diff(
    context: click.Context,
    *,
    connection: Connection,
    left: str,
    right: str,
    key: str,
    columns: str,
    since: datetime | None,
    until: datetime | None,
    source: str | None,
    as_json: bool,
) -> None:
    """Compare the rows of LEFT, which should be there, with those of RIGHT, which are.

    \b
    LEFT and RIGHT are each one of:
      stream:orders                     the records of a stream
      checkpoint:/checkpoints/a#120-124 the records of micro-batches of a query
      parquet:/lake/orders              files in a format that Spark knows
      table:lake.orders                 a table

    By default, a row is identified by its place in Kinesis, in the columns stream, shardId,
    sequenceNumber and subSequenceNumber, which the source provides. If the rows of a sink do not
    have these columns, name others with --key, such as an ID in the data.

    Spark reads files in S3 as s3a: with Hadoop's own settings and credentials, such as
    spark.hadoop.fs.s3a.* in spark-defaults.conf. --profile applies to Kinesis, and to the list of
    streams of a checkpoint.

    \b
    Examples:
      spark-kinesis diff checkpoint:/checkpoints/orders#0-99 parquet:/lake/orders
      spark-kinesis diff stream:orders stream:copy --key data

    Exit codes: 0 if both sides have the same rows, each once. 1 if not. 2 after an error.
    """
    sides = [parse(text) for text in (left, right)]
    with _session() as spark:
        if until is None and all(it.kind == STREAM for it in sides):
            until = utc_now()  # otherwise each stream ends when Spark plans to read it
        positions = _positions(since, until)
        first, second = (rows(side, spark, connection, source, **positions) for side in sides)
        found = compare(first, second, key=_names(key), columns=_names(columns))
    if as_json:
        print_json(found)
    else:
        _show(found, left, right)
    context.exit(0 if found.is_same else DIFFERENT)


@contextmanager
def _session() -> Iterator[SparkSession]:
    """A session, and its errors in one line."""
    try:
        from pyspark.errors import PySparkException  # noqa: PLC0415 optional, and slow to load
        from pyspark.sql import SparkSession  # noqa: PLC0415
    except ImportError as error:
        raise MissingPackageError(
            "spark-kinesis diff needs pyspark: pip install 'spark-kinesis[spark]'"
        ) from error
    spark = with_kinesis(SparkSession.Builder()).getOrCreate()
    try:
        yield spark
    except (PySparkException, ValueError) as error:
        raise SparkKinesisError(str(error)) from error
    finally:
        spark.stop()


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _positions(since: datetime | None, until: datetime | None) -> dict[str, Any]:
    return {
        "starting_position": AtTimestamp(since) if since else TrimHorizon(),
        "ending_position": AtTimestamp(until) if until else None,
    }


def _show(found: Difference, left: str, right: str) -> None:
    table = Table("", "left", "right", box=None, pad_edge=False)
    for column in table.columns[1:]:
        column.justify = "right"
    table.add_row("rows", f"{found.left:,}", f"{found.right:,}")
    table.add_row("only here", f"{found.only_left:,}", f"{found.only_right:,}")
    table.add_row("repeated", f"{found.repeated_left:,}", f"{found.repeated_right:,}")
    screen().print(table)
    if found.different:
        screen().print(f"{found.different:,} keys have other values in the compared columns")
    for example in found.examples:
        key = ", ".join(f"{name}={value}" for name, value in example.items() if name != "problem")
        screen().print(f"{example['problem']}: {key}")
    verdict = "the same rows" if found.is_same else "NOT the same rows"
    screen().print(shown(f"left {left}, right {right}: {verdict}"))
