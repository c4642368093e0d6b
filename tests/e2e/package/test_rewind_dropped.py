"""A query with a micro-batch that its sink has written, and Spark has not completed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.e2e.support.harness import collected
from tests.e2e.support.rewound import Rewound
from tests.e2e.support.verdict import Collected, assert_exactly_once_in_order

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from tests.e2e.support.streams import Stream

pytestmark = pytest.mark.parametrize("kinesis", ["simulator"], indirect=True)


class Table:
    """A sink that writes each number once, as a Delta table with `txnVersion` does."""

    def __init__(self) -> None:
        """Nothing is written yet."""
        self.batches: dict[int, list[Collected]] = {}
        self.ignored: list[int] = []

    def __call__(self, frame: DataFrame, batch: int) -> None:
        """Write a batch, or ignore it."""
        if batch in self.batches:
            self.ignored.append(batch)
        else:
            self.batches[batch] = [collected(row, batch) for row in frame.collect()]

    def since(self, batch: int) -> list[Collected]:
        """The rows of the batches after one."""
        return [
            row for number in sorted(self.batches) if number > batch for row in self.batches[number]
        ]


class Interrupted:
    """A query that was killed after its sink had written, and before Spark completed the batch."""

    def __init__(self, spark: SparkSession, stream: Stream, checkpoint: Path) -> None:
        """Read 40 records completely, and 40 more in the batch that is not completed."""
        self.query, self.table = Rewound(spark, stream, checkpoint), Table()
        for _ in range(2):
            stream.put(40)
            self.read()
        self.last = max(map(int, self.query.completed()))
        for name in (str(self.last), f".{self.last}.crc"):
            (checkpoint / "commits" / name).unlink(missing_ok=True)

    def read(self) -> None:
        """Let the query read all records, and stop."""
        frame = self.query.source.read_stream(self.query.spark)
        query = (
            frame.writeStream.foreachBatch(self.table)
            .option("checkpointLocation", str(self.query.checkpoint))
            .trigger(availableNow=True)
            .start()
        )
        assert query.awaitTermination(180)


@pytest.fixture
def interrupted(spark: SparkSession, stream: Stream, checkpoint: Path) -> Interrupted:
    return Interrupted(spark, stream, checkpoint)


def test_a_planned_micro_batch_is_completed_before_the_query_moves(
    interrupted: Interrupted, capsys: pytest.CaptureFixture[str]
) -> None:
    query, table, last = interrupted.query, interrupted.table, interrupted.last
    assert query.rewind("trim_horizon") == 2
    assert f"micro-batch {last} was planned and not completed" in capsys.readouterr().err
    interrupted.read()
    assert table.ignored == [last]
    assert query.rewind("trim_horizon") == 0
    interrupted.read()
    assert table.ignored == [last]
    assert_exactly_once_in_order(query.stream.written, table.since(last))


def test_the_sink_ignores_the_number_of_a_dropped_micro_batch(interrupted: Interrupted) -> None:
    # The move has planned an empty micro-batch with this number, so that no record is ignored.
    query, table, last = interrupted.query, interrupted.table, interrupted.last
    assert query.rewind("trim_horizon", "--drop-planned") == 0
    interrupted.read()
    assert table.ignored == [last]
    assert_exactly_once_in_order(query.stream.written, table.since(last))
