"""Rows of the sink: their streams, missing keys, and bad rows in dead letter files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from pyspark.sql.functions import unbase64

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import DataFrame, Row, SparkSession

    from tests.e2e.support.streams import Stream


on_simulator = pytest.mark.parametrize("kinesis", ["simulator"], indirect=True)
GOOD = ("key", "good", None)
BAD = {
    "NULL_DATA": ("key", None, None),
    "EMPTY_PARTITION_KEY": ("", "x", None),
    "LONG_PARTITION_KEY": ("ключ" * 65, "x", None),
    "BAD_HASH_KEY": ("key", "x", "0x7"),
    "RECORD_TOO_LARGE": ("key", "x" * (1 << 20), None),
}
ROWS = "partitionKey string, data string, explicitHashKey string"


def kept(spark: SparkSession, path: Path) -> list[Row]:
    """The rows in the dead letter files of a path."""
    return spark.read.json(str(path)).withColumn("data", unbase64("data")).collect()


def as_row(letter: Row) -> tuple[str | None, str | None, str | None]:
    """The data as bytes."""
    data = None if letter.data is None else bytes(letter.data).decode()
    return letter.partitionKey, data, letter.explicitHashKey


def test_bad_rows_are_stored_and_can_be_fixed(
    spark: SparkSession, stream: Stream, tmp_path: Path
) -> None:
    path = tmp_path / "bad"
    to = stream.sink(dead_letter_path=path)
    frame = spark.createDataFrame([GOOD, *BAD.values(), GOOD], ROWS)
    to.write(frame.repartition(3))
    assert stream.read_all() == [("key", b"good")] * 2
    letters = kept(spark, path)
    assert {letter.reason: as_row(letter) for letter in letters} == BAD
    assert {letter.stream for letter in letters} == {stream.name}
    assert {letter.batchId for letter in letters} == {None}
    assert len({letter.queryId for letter in letters}) == 1
    places = {(letter.partitionId, letter.row) for letter in letters}
    assert len(places) == len(letters)
    assert all("column" in letter.message for letter in letters)
    fixed = spark.read.json(str(path)).where("reason = 'BAD_HASH_KEY'")
    to.write(fixed.selectExpr("partitionKey", "unbase64(data) AS data"))
    assert sorted(stream.read_all()) == [("key", b"good")] * 2 + [("key", b"x")]


def with_bad_rows(frame: DataFrame) -> DataFrame:
    """The numbered records, every fifth of them as a bad row."""
    text = "string(data)"
    spoilt = f"CASE WHEN get_json_object({text}, '$.n') % 5 != 0 THEN {text} END AS data"
    return frame.selectExpr("partitionKey", spoilt)


def forget_last_commit(checkpoint: Path) -> int:
    """Make the checkpoint look as if the driver was killed before Spark noted the last batch."""
    commits = checkpoint / "commits"
    last = max(int(file.name) for file in commits.iterdir() if file.name.isdigit())
    (commits / str(last)).unlink()
    (commits / f".{last}.crc").unlink(missing_ok=True)
    return last


@on_simulator
def test_a_batch_that_runs_again_stores_its_bad_rows_once(
    spark: SparkSession,
    new_stream: Callable[..., Stream],
    checkpoint: Path,
    tmp_path: Path,
) -> None:
    inlet, outlet, path = new_stream(), new_stream(), tmp_path / "bad"
    frame = with_bad_rows(inlet.source().read_stream(spark))

    def run() -> None:
        to = outlet.sink(dead_letter_path=path)
        query = (
            to.write_stream(frame, checkpoint_location=checkpoint)
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()

    def letters() -> list[tuple[int, str]]:
        return sorted((letter.batchId, letter.partitionKey) for letter in kept(spark, path))

    inlet.put(400)
    run()
    first = letters()
    assert len(first) == 80
    before = sorted(str(file) for file in path.rglob("*.json"))
    again = forget_last_commit(checkpoint)
    run()
    assert letters() == first
    files = sorted(str(file) for file in path.rglob("*.json"))
    assert [file for file in before if f"batchId={again}/" in file]
    assert not {file for file in before if f"batchId={again}/" in file} & set(files), "replaced"
    inlet.put(400)
    run()
    later = letters()
    assert [letter for letter in later if letter in first] == first
    assert len(later) == 160
    assert len({batch for batch, _ in later}) > 1
    good = [w for w in inlet.written if w.n % 5]
    texts = {json.dumps({"key": w.key, "n": w.n}).encode() for w in good}
    assert {data for _, data in outlet.read_all()} == texts
    assert not list(path.rglob("_staging/*"))


def test_each_row_goes_to_the_stream_it_names(
    spark: SparkSession, new_stream: Callable[..., Stream]
) -> None:
    streams = [new_stream() for _ in range(3)]
    rows = [(stream.name, f"to {stream.name}") for stream in streams for _ in range(100)]
    frame = spark.createDataFrame(rows, "stream string, data string").repartition(4)
    streams[0].sink(stream_name=None).write(frame)
    for stream in streams:
        arrived = stream.read_all()
        assert [data.decode() for _, data in arrived] == [f"to {stream.name}"] * 100


def test_a_row_without_a_key_gets_a_random_one(spark: SparkSession, stream: Stream) -> None:
    rows = [("key", "with"), *((None, "without") for _ in range(20))]
    stream.sink().write(spark.createDataFrame(rows, "partitionKey string, data string"))
    keys = [key for key, data in stream.read_all() if data == b"without"]
    assert len(set(keys)) == 20
    assert ("key", b"with") in stream.read_all()
