"""A query that is moved reads exactly what it should."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql.streaming.readwriter import DataStreamReader

from tests.e2e.support.harness import Collector, Reading, running
from tests.e2e.support.rewound import Rewound
from tests.e2e.support.streams import Stream, Written, wait_for
from tests.e2e.support.verdict import Collected, assert_exactly_once_in_order

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.parametrize("kinesis", ["simulator"], indirect=True)


@pytest.fixture
def rewound(spark: SparkSession, stream: Stream, checkpoint: Path) -> Rewound:
    """A query that has read 80 records, a split, and 80 more."""
    made = Rewound(spark, stream, checkpoint)
    made.put(80)
    made.run()
    return made


def numbers(rows: list[Collected]) -> set[Written]:
    """The records without the fences."""
    return {Written(row.key, row.n) for row in rows}


def test_a_query_goes_back_to_a_time(rewound: Rewound) -> None:
    middle = rewound.now()
    rewound.stream.split()
    late = rewound.put(80)
    first = rewound.run()
    query_id = (rewound.checkpoint / "metadata").read_text()
    last_batch = max(map(int, rewound.completed()))
    assert rewound.rewind(middle) == 0
    again = rewound.run()
    assert_exactly_once_in_order(late, again.numbered())
    assert numbers(again.numbered()) == numbers(first.numbered())
    assert min(row.batch for row in again.rows) > last_batch
    assert sorted(map(int, rewound.planned())) == list(range(len(rewound.planned())))
    assert (rewound.checkpoint / "metadata").read_text() == query_id
    (folder,) = (rewound.checkpoint / "rewinds").iterdir()
    assert "LOST" not in (folder / "plan.txt").read_text()
    assert (folder / "offsets" / str(last_batch)).is_file()


def test_a_query_skips_to_the_newest_record(rewound: Rewound) -> None:
    rewound.put(80)
    rewound.stream.split()
    rewound.put(80)
    rewound.now()
    assert rewound.rewind("latest") == 0
    later = rewound.put(40)
    assert_exactly_once_in_order(later, rewound.run().numbered())


def test_a_query_that_still_runs_cannot_undo_the_move(rewound: Rewound) -> None:
    with running(rewound.spark, rewound.source, rewound.checkpoint, Collector()) as query:
        wait_for("the query waits", lambda: query.status["message"].startswith("Waiting"))
        assert rewound.rewind("trim_horizon") == 0
        rewound.put(40)
        wait_for("the query has ended", lambda: not query.isActive)
        assert "Multiple streaming jobs detected" in str(query.exception())
    assert_exactly_once_in_order(rewound.stream.written, rewound.run().numbered())


class Named(Reading):
    """A source with the name `orders`."""

    def read_stream(self, spark: SparkSession) -> DataFrame:
        """A streaming DataFrame."""
        reader: Any = spark.readStream.format("kinesis").options(**self.options)
        frame: DataFrame = reader.name("orders").load()
        return frame


@pytest.mark.skipif(not hasattr(DataStreamReader, "name"), reason="this Spark names no sources")
@pytest.mark.usefixtures("source_names")
def test_a_query_whose_source_has_a_name_is_moved(
    spark: SparkSession, stream: Stream, checkpoint: Path
) -> None:
    query = Rewound(spark, stream, checkpoint, Named({**stream.source().options()}))
    query.put(40)
    query.run()
    middle = query.now()
    late = query.put(40)
    query.run()
    last = checkpoint / "offsets" / str(max(map(int, query.completed())))
    lines = last.read_text().splitlines()
    assert lines[0] == "v2"
    assert query.rewind(middle, "--source", "orders") == 0
    moved = last.read_text().splitlines()
    assert moved[:2] == lines[:2]
    assert moved[2].startswith("orders:{")
    assert_exactly_once_in_order(late, query.run().numbered())


def test_a_query_with_state_is_not_moved(
    spark: SparkSession, stream: Stream, checkpoint: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stream.put(10)
    counts = stream.source().read_stream(spark).groupBy("shardId").count()
    query = (
        counts.writeStream.outputMode("complete")
        .foreachBatch(lambda frame, _: frame.write.format("noop").mode("append").save())
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .start()
    )
    assert query.awaitTermination(180)
    assert Rewound(spark, stream, checkpoint).rewind("latest") == 2
    assert "keeps state" in capsys.readouterr().err
