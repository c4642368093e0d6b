"""Where `spark-kinesis diff` reads rows, and up to when."""

from __future__ import annotations

from contextlib import nullcontext
from datetime import datetime, timezone
from types import SimpleNamespace
from typing import Any

import pytest

from spark_kinesis import AtTimestamp, TrimHorizon
from spark_kinesis.tools.cli import run
from spark_kinesis.compare import command, sides
from spark_kinesis.compare.difference import Difference

NOW = datetime(2026, 11, 23, 12, tzinfo=timezone.utc)
SAME = Difference(
    left=1, right=1, only_left=0, only_right=0, repeated_left=0, repeated_right=0, different=0
)


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The positions between which each side is read."""
    found: list[dict[str, Any]] = []
    monkeypatch.setattr(command, "_session", nullcontext)
    monkeypatch.setattr(command, "rows", lambda *_, **given: found.append(given))
    monkeypatch.setattr(command, "compare", lambda *_, **__: SAME)
    monkeypatch.setattr(command, "utc_now", lambda: NOW)
    return found


def test_two_streams_end_at_the_same_time(read: list[dict[str, Any]]) -> None:
    assert run(["diff", "stream:orders", "stream:copy"]) == 0
    assert [it["ending_position"] for it in read] == [AtTimestamp(NOW)] * 2
    assert [it["starting_position"] for it in read] == [TrimHorizon()] * 2


def test_one_stream_ends_with_its_newest_record(read: list[dict[str, Any]]) -> None:
    assert run(["diff", "stream:orders", "parquet:/lake"]) == 0
    assert [it["ending_position"] for it in read] == [None, None]


def test_the_given_end_counts(read: list[dict[str, Any]]) -> None:
    assert run(["diff", "stream:a", "stream:b", "--until", "2026-11-20T08:00Z"]) == 0
    given = AtTimestamp(datetime(2026, 11, 20, 8, tzinfo=timezone.utc))
    assert [it["ending_position"] for it in read] == [given] * 2


class Spark:
    """A session that remembers what it loads."""

    def __init__(self, **hadoop: str) -> None:
        configuration = SimpleNamespace(get=lambda name: hadoop.get(name.replace(".", "_")))
        self.sparkContext = SimpleNamespace(
            _jsc=SimpleNamespace(hadoopConfiguration=lambda: configuration)
        )
        self.read = self
        self.loaded = ""

    def format(self, _: str) -> Spark:
        return self

    def load(self, place: str) -> None:
        self.loaded = place


@pytest.mark.parametrize(
    ("place", "hadoop", "loaded"),
    [
        ("s3://bucket/rows", {}, "s3a://bucket/rows"),
        ("s3://bucket/rows", {"fs_s3_impl": "EmrFileSystem"}, "s3://bucket/rows"),
        ("s3a://bucket/rows", {}, "s3a://bucket/rows"),
        ("hdfs://host/s3://rows", {}, "hdfs://host/s3://rows"),
        ("/lake/rows", {}, "/lake/rows"),
    ],
)
def test_spark_reads_s3_by_the_name_that_hadoop_knows(
    place: str, hadoop: dict[str, str], loaded: str
) -> None:
    spark: Any = Spark(**hadoop)
    sides.rows(sides.parse(f"parquet:{place}"), spark, None)  # type: ignore[arg-type]
    assert spark.loaded == loaded


def test_a_replay_reads_the_checkpoint_by_the_name_that_hadoop_knows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found: list[Any] = []
    source = SimpleNamespace(replay=lambda _, **given: found.append(given["checkpoint"]))
    monkeypatch.setattr(sides, "KinesisSource", lambda **_: source)
    monkeypatch.setattr(sides, "_streams", lambda *_: (0, ["arn"]))
    opened: list[str] = []
    connection: Any = SimpleNamespace(checkpoint=opened.append, source_arguments=dict)
    side = sides.parse("checkpoint:s3://bucket/orders#7")
    sides.rows(side, Spark(), connection)  # type: ignore[arg-type]
    assert (opened, found) == (["s3://bucket/orders"], ["s3a://bucket/orders"])
