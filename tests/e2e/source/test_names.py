"""A source that has a name is found in the checkpoint when the sources of its query change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql.streaming.readwriter import DataStreamReader

from tests.e2e.support.harness import Collector, running
from tests.e2e.support.streams import KEYS, Stream
from tests.e2e.support.verdict import assert_exactly_once_in_order

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.parametrize("kinesis", ["simulator"], indirect=True)

OTHER_KEYS = tuple(f"other-{key}" for key in KEYS)


@dataclass(frozen=True)
class Union:
    """The rows of streams, each read by a source with its name."""

    streams: dict[str, Stream]

    def read_stream(self, spark: SparkSession) -> DataFrame:
        """A streaming DataFrame."""
        first, *others = (
            stream.source().read_stream(spark, name=name) for name, stream in self.streams.items()
        )
        for other in others:
            first = first.union(other)
        return first


@pytest.mark.skipif(not hasattr(DataStreamReader, "name"), reason="this Spark names no sources")
@pytest.mark.usefixtures("source_names")
def test_named_sources_continue_in_another_order(
    spark: SparkSession, new_stream: Callable[..., Stream], checkpoint: Path
) -> None:
    orders, refunds = new_stream(shards=1), new_stream(shards=1)
    collector = Collector()
    sources: list[Any] = [
        Union({"orders": orders, "refunds": refunds}),
        Union({"refunds": refunds, "orders": orders}),
    ]
    for source in sources:
        with running(spark, source, checkpoint, collector) as query:
            orders.put(40)
            refunds.put(40, OTHER_KEYS)
            collector.wait(query, orders.written + refunds.written)
    assert_exactly_once_in_order(orders.written + refunds.written, collector.rows)


@pytest.mark.skipif(hasattr(DataStreamReader, "name"), reason="this Spark names sources")
def test_another_spark_says_which_one_names_sources(spark: SparkSession, stream: Stream) -> None:
    with pytest.raises(ValueError, match=r"name='orders' requires Spark 4\.2 or later"):
        stream.source().read_stream(spark, name="orders")
