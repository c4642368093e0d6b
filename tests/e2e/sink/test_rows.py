"""Rows of the sink: their streams, missing keys, and bad rows in dead letter files."""

from __future__ import annotations

import json
from collections import Counter
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from pyspark.sql.functions import unbase64

from spark_kinesis.local import LocalEndpoint
from tests.e2e.support.streams import Stream, wait_for

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import DataFrame, Row, SparkSession

    from spark_kinesis.local import FaultName

on_simulator = pytest.mark.parametrize("kinesis", ["simulator"], indirect=True)
GOOD = ("key", "good", None)
BAD = {
    "NULL_DATA": ("key", None, None),
    "NULL_PARTITION_KEY": (None, "x", None),
    "EMPTY_PARTITION_KEY": ("", "x", None),
    "LONG_PARTITION_KEY": ("ключ" * 65, "x", None),
    "BAD_HASH_KEY": ("key", "x", "0x7"),
    "RECORD_TOO_LARGE": ("key", "x" * (1 << 20), None),
}
ROWS = "partitionKey string, data string, explicitHashKey string"


def kept(spark: SparkSession, path: Path, form: str = "json") -> list[Row]:
    """The rows in the dead letter files of a path."""
    frame = spark.read.format(form).load(str(path))
    if form == "json":
        frame = frame.withColumn("data", unbase64("data"))
    return frame.collect()


def as_row(letter: Row) -> tuple[str | None, str | None, str | None]:
    """The data as bytes."""
    data = None if letter.data is None else bytes(letter.data).decode()
    return letter.partitionKey, data, letter.explicitHashKey


@pytest.mark.parametrize("form", ["json", "parquet"])
def test_bad_rows_are_stored_and_can_be_fixed(
    spark: SparkSession, stream: Stream, tmp_path: Path, form: str
) -> None:
    path = tmp_path / "bad"
    to = stream.sink(dead_letter_path=path, dead_letter_format=form)
    frame = spark.createDataFrame([GOOD, *BAD.values(), GOOD], ROWS)
    to.write(frame.repartition(3))
    assert stream.read_all() == [("key", b"good")] * 2
    letters = kept(spark, path, form)
    assert {letter.reason: as_row(letter) for letter in letters} == BAD
    assert {letter.stream for letter in letters} == {stream.name}
    assert {letter.batchId for letter in letters} == {None}
    assert len({letter.queryId for letter in letters}) == 1
    places = {(letter.partitionId, letter.row) for letter in letters}
    assert len(places) == len(letters)
    assert all("column" in letter.message for letter in letters)
    fixed = spark.read.format(form).load(str(path)).where("reason = 'BAD_HASH_KEY'")
    data = "unbase64(data) AS data" if form == "json" else "data"
    to.write(fixed.selectExpr("partitionKey", data))
    assert sorted(stream.read_all()) == [("key", b"good")] * 2 + [("key", b"x")]


@on_simulator
def test_without_bad_rows_no_file_is_written(
    spark: SparkSession, stream: Stream, tmp_path: Path
) -> None:
    path = tmp_path / "bad"
    stream.sink(dead_letter_path=path).write(spark.createDataFrame([GOOD], ROWS))
    assert not path.exists()


@on_simulator
def test_an_unusable_path_is_refused(spark: SparkSession, stream: Stream, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    frame = spark.createDataFrame([GOOD], ROWS)
    says = r"KINESIS_DEAD_LETTERS_UNWRITABLE.*file \(option 'deadLetterPath'\)"
    with pytest.raises(Exception, match=says):
        stream.sink(dead_letter_path=tmp_path / "file").write(frame)
    with pytest.raises(Exception, match=r"KINESIS_INVALID_OPTION.*no-such"):
        stream.sink(dead_letter_path="no-such:///d").write(frame)
    assert stream.read_all() == []


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


@pytest.mark.parametrize("aggregation", ["none", "kpl"])
def test_empty_data_is_written_and_read(
    spark: SparkSession, stream: Stream, aggregation: str
) -> None:
    rows = [("a", b""), ("a", b"x"), ("b", b"")] * 3
    frame = spark.createDataFrame(rows, "partitionKey string, data binary")
    stream.sink(aggregation=aggregation).write(frame)
    found = stream.source().read(spark).collect()
    assert sorted((row.partitionKey, bytes(row.data)) for row in found) == sorted(rows)


def test_the_stream_of_the_option_wins_over_the_stream_of_the_row(
    spark: SparkSession, new_stream: Callable[..., Stream], checkpoint: Path
) -> None:
    inlet, outlet = new_stream(), new_stream()
    inlet.put(100)
    copies = inlet.source().read_stream(spark).select("partitionKey", "data", "stream")
    writer = outlet.sink().write_stream(copies, checkpoint_location=checkpoint)
    writer.trigger(availableNow=True).start().awaitTermination()
    assert len(outlet.read_all()) == 100
    assert len(inlet.read_all()) == 100


def test_a_row_for_a_missing_stream_is_a_bad_row(
    spark: SparkSession, stream: Stream, tmp_path: Path
) -> None:
    rows = [(stream.name, "good"), ("no-such-stream", "x"), ("not a name", "y"), (None, "z")]
    frame = spark.createDataFrame(rows, "stream string, data string").coalesce(1)
    says = (
        r"KINESIS_INVALID_ROW.*Row 2 .*stream no-such-stream: "
        "column 'stream' names a stream that does not exist"
    )
    with pytest.raises(Exception, match=says):
        stream.sink(stream_name=None).write(frame)
    before = len(stream.read_all())
    stream.sink(stream_name=None, dead_letter_path=tmp_path / "bad").write(frame)
    reasons = {letter.stream: letter.reason for letter in kept(spark, tmp_path / "bad")}
    assert reasons == {
        "no-such-stream": "STREAM_NOT_FOUND",
        "not a name": "BAD_STREAM",
        None: "NULL_STREAM",
    }
    assert len(stream.read_all()) == before + 1


@on_simulator
@pytest.mark.service
@pytest.mark.parametrize(("fault", "is_written"), [("throttle", False), ("answer-lost", True)])
def test_rows_of_a_shard_that_never_answers_well_are_dead_letters(
    spark: SparkSession,
    new_stream: Callable[..., Stream],
    tmp_path: Path,
    fault: FaultName,
    is_written: bool,
) -> None:
    good, refused = new_stream(shards=1), new_stream(shards=1)
    rows = [(to.name, f"{n}") for n in range(100) for to in (good, refused)]
    frame = spark.createDataFrame(rows, "stream string, data string").repartition(2)
    to = good.sink(
        stream_name=None,
        dead_letter_path=tmp_path / "bad",
        on_delivery_timeout="dead_letter",
        delivery_timeout=timedelta(seconds=3),
    )
    server = LocalEndpoint(good.endpoint)
    with server.fault(fault, operation="PutRecords", stream=refused.name):
        to.write(frame)
    letters = kept(spark, tmp_path / "bad")
    once = Counter(str(n).encode() for n in range(100))
    assert Counter(data for _, data in good.read_all()) == once
    assert Counter(bytes(letter.data) for letter in letters) == once
    assert {(it.stream, it.reason) for it in letters} == {(refused.name, "DELIVERY_TIMEOUT")}
    assert {data for _, data in refused.read_all()} == (set(once) if is_written else set())
    assert all(it.mayBeWritten or not is_written for it in letters)
    assert is_written or not any(it.mayBeWritten for it in letters)


def test_a_write_without_a_stream_is_refused(spark: SparkSession, stream: Stream) -> None:
    with pytest.raises(Exception, match=r"KINESIS_MISSING_OPTION.*column 'stream'"):
        stream.sink(stream_name=None).write(spark.createDataFrame([GOOD], ROWS))


def test_rows_without_a_key_are_spread_over_the_shards(
    spark: SparkSession, new_stream: Callable[..., Stream]
) -> None:
    stream = new_stream(shards=4)
    stream.sink().write(spark.range(2000).selectExpr("string(id) AS data"))
    arrived = stream.read_all()
    assert len({key for key, _ in arrived}) == len({data for _, data in arrived}) == 2000
    for shard in stream.all_shards():
        iterator = stream.client.get_shard_iterator(
            StreamName=stream.name, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON"
        )["ShardIterator"]
        assert 350 < len(stream.client.get_records(ShardIterator=iterator)["Records"]) < 650


@on_simulator
def test_empty_partitions_cost_no_call(spark: SparkSession, stream: Stream, tmp_path: Path) -> None:
    kinesis = LocalEndpoint(stream.endpoint)
    empty = spark.range(0, 8, 1, 8).where("id > 8").selectExpr("string(id) AS data")
    kinesis.reset_stats()
    stream.sink(dead_letter_path=tmp_path / "bad").write(empty)
    assert dict(kinesis.stats().calls) == {"DescribeStreamSummary": 1}
    one = spark.range(0, 8, 1, 8).where("id = 3").selectExpr("string(id) AS data")
    routed = one.selectExpr("data", f"'{stream.name}' AS stream")
    kinesis.reset_stats()
    stream.sink(stream_name=None).write(routed)
    calls = dict(kinesis.stats().calls)
    assert calls.pop("PutRecords") == 1
    assert set(calls) <= {"DescribeStreamSummary", "ListShards"}
    assert set(calls.values()) <= {1}


@on_simulator
def test_for_each_batch_can_write(
    spark: SparkSession,
    new_stream: Callable[..., Stream],
    checkpoint: Path,
    tmp_path: Path,
) -> None:
    inlet, outlets = new_stream(), [new_stream(), new_stream()]
    even, odd = (f"'{outlet.name}'" for outlet in outlets)
    number = "int(get_json_object(data, '$.n'))"
    frame = inlet.source().read_stream(spark)

    def write(batch: DataFrame, _: int) -> None:
        to = f"IF({number} % 2 = 0, {even}, {odd}) AS stream"
        routed = with_bad_rows(batch).selectExpr("*", to)
        outlets[0].sink(stream_name=None, dead_letter_path=tmp_path / "bad").write(routed)

    query = (
        frame.writeStream.foreachBatch(write).option("checkpointLocation", str(checkpoint)).start()
    )
    try:
        inlet.put(400)

        def arrived() -> bool:
            assert query.isActive, query.exception()
            return sum(len(set(outlet.read_all())) for outlet in outlets) == 320

        wait_for("every good record", arrived)
        query.processAllAvailable()  # the bad ones follow when the micro-batch is committed
    finally:
        query.stop()
    for remainder, outlet in enumerate(outlets):
        assert {json.loads(data)["n"] % 2 for _, data in outlet.read_all()} == {remainder}
    letters = kept(spark, tmp_path / "bad")
    assert len(letters) == 80
    assert {letter.reason for letter in letters} == {"NULL_DATA"}
