"""`spark_kinesis.compare` and the command `spark-kinesis diff`."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from spark_kinesis import SparkKinesisError
from spark_kinesis.compare import Difference, compare
from spark_kinesis.compare import command as diff_command
from spark_kinesis.compare.sides import Side, parse

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from tests.e2e.support.streams import Stream

pytestmark = pytest.mark.service
KEY = ["k", "n"]


def frame(spark: SparkSession, *rows: tuple[str | None, int, str]) -> DataFrame:
    return spark.createDataFrame(list(rows), "k string, n int, d string")


def difference(**changes: Any) -> Difference:
    """A comparison without a difference, with changes."""
    names = ("only_left", "only_right", "repeated_left", "repeated_right", "different")
    return Difference(**{**dict.fromkeys(names, 0), **changes})


def test_missing_repeated_and_different_rows_are_counted(spark: SparkSession) -> None:
    left = frame(spark, ("a", 1, "x"), ("b", 2, "y"), ("b", 2, "y"), (None, 3, "z"), ("c", 4, "q"))
    right = frame(spark, ("a", 1, "x"), ("b", 2, "w"), (None, 3, "z"), ("d", 4, "q"), ("d", 4, "q"))
    found = compare(left, right, key=KEY, columns=["d"])
    assert found == Difference(
        left=5,
        right=5,
        only_left=1,
        only_right=1,
        repeated_left=1,
        repeated_right=1,
        different=1,
        examples=found.examples,
    )
    assert not found.is_same
    problems = {example["k"]: example["problem"] for example in found.examples}
    assert problems == {"b": "different", "c": "only left", "d": "only right"}


def test_equal_rows_are_the_same(spark: SparkSession) -> None:
    rows = frame(spark, ("a", 1, "x"), (None, 2, "y"))
    assert compare(rows, rows, key=KEY, columns=["d"]) == difference(left=2, right=2)


def test_nothing_is_the_same_as_nothing(spark: SparkSession) -> None:
    nothing = frame(spark).limit(0)
    assert compare(nothing, nothing, key=KEY).is_same


def test_a_missing_column_is_named(spark: SparkSession) -> None:
    rows = frame(spark, ("a", 1, "x"))
    with pytest.raises(ValueError, match=r"the right side has no column n\. It has: k, d"):
        compare(rows, rows.drop("n"), key=KEY)
    with pytest.raises(ValueError, match="at least one column"):
        compare(rows, rows, key=[])


def test_sides_are_read_from_the_command_line() -> None:
    assert parse("stream:orders") == Side("stream", "orders")
    assert parse("parquet:s3://lake/orders") == Side("parquet", "s3://lake/orders")
    assert parse("table:lake.orders") == Side("table", "lake.orders")
    assert parse("checkpoint:/a#1-3,7") == Side("checkpoint", "/a", (1, 2, 3, 7))
    for text, advice in (
        ("orders", "'orders' names no rows. Write stream:NAME"),
        ("stream:", "names no rows"),
        ("checkpoint:/a", "write them after #, such as checkpoint:/a#120-124"),
        ("checkpoint:/a#x", "'x' is not a micro-batch"),
    ):
        with pytest.raises(SparkKinesisError, match=advice):
            parse(text)


def diff(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    stream: Stream,
    *words: str,
) -> tuple[int, dict[str, int]]:
    """Exit code and result of the command. The session of the test goes on."""
    from spark_kinesis.tools.cli import run  # noqa: PLC0415

    monkeypatch.setattr("pyspark.sql.SparkSession.stop", lambda _: None)
    access = ["--endpoint", stream.endpoint]
    code = run(["diff", *words, *access, "--json"])
    said = capsys.readouterr()
    assert said.out, said.err
    return code, json.loads(said.out)


@pytest.mark.slow  # starts Spark again
def test_a_copy_is_compared_with_its_stream(
    spark: SparkSession,
    stream: Stream,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stream.put(30)
    rows = stream.source().read(spark)
    rows.write.parquet(str(tmp_path / "copy"))
    words = (f"stream:{stream.name}", f"parquet:{tmp_path / 'copy'}")
    code, found = diff(capsys, monkeypatch, stream, *words, "--compare", "data")
    assert (code, found["left"], found["right"]) == (0, 30, 30)
    stream.put(5)
    code, found = diff(capsys, monkeypatch, stream, *words)
    assert (code, found["only_left"], found["only_right"]) == (1, 5, 0)


def test_micro_batches_are_compared_with_what_a_sink_has_written(
    spark: SparkSession,
    stream: Stream,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counts: Counter[int] = Counter()
    output, checkpoint = str(tmp_path / "output"), str(tmp_path / "checkpoint")

    def write(batch: DataFrame, batch_id: int) -> None:
        counts[batch_id] += batch.count()
        batch.write.mode("append").parquet(output)

    for _ in range(2):
        stream.put(20)
        writer = stream.source().read_stream(spark).writeStream.foreachBatch(write)
        writer = writer.option("checkpointLocation", checkpoint).trigger(availableNow=True)
        writer.start().awaitTermination()
    last = max(counts)
    whole = (f"checkpoint:{checkpoint}#0-{last}", f"parquet:{output}")
    code, found = diff(capsys, monkeypatch, stream, *whole, "--compare", "data")
    assert (code, found["left"], found["right"]) == (0, 40, 40)
    part = (f"checkpoint:{checkpoint}#{last}", f"parquet:{output}")
    code, found = diff(capsys, monkeypatch, stream, *part)
    assert (code, found["left"]) == (1, counts[last])
    assert found["only_right"] == 40 - counts[last]


def test_the_table_says_what_is_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    found = difference(
        left=1_000,
        right=999,
        only_left=1,
        different=2,
        examples=({"k": "a", "problem": "only left"},),
    )
    diff_command._show(found, "stream:a", "stream:b")
    out = capsys.readouterr().out
    assert "1,000" in out
    assert "only left: k=a" in out
    assert "2 keys have other values" in out
    assert "left stream:a, right stream:b: NOT the same rows" in out
