"""A checkpoint that is damaged or of another stream is refused and not changed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.e2e.support.harness import Collector, drain, running, wait_started
from tests.e2e.support.streams import Stream

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.parametrize("kinesis", ["simulator"], indirect=True)


def contents(folder: Path) -> dict[str, bytes]:
    """All files of a checkpoint, with their contents."""
    files = (file for file in folder.rglob("*") if file.is_file())
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


def newest_offset(checkpoint: Path) -> Path:
    """The last entry of Spark's offset log."""
    return max((checkpoint / "offsets").glob("[0-9]*"), key=lambda file: int(file.name))


def rewrite(file: Path, text: str) -> None:
    """Replace a file, and remove the checksum that Spark would compare."""
    (file.parent / f".{file.name}.crc").unlink()
    file.write_text(text)


def assert_refused(spark: SparkSession, stream: Stream, checkpoint: Path, says: str) -> None:
    """Check that the query fails and does not change the checkpoint."""
    before = contents(checkpoint)
    with (
        pytest.raises(Exception, match=says),
        running(spark, stream.source(), checkpoint, Collector()) as query,
    ):
        assert query.awaitTermination(60), "the query goes on"
    assert contents(checkpoint) == before


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda offset: offset[: len(offset) // 2], "KINESIS_OFFSET_UNREADABLE"),
        (lambda _: '{"shard-0": 17}', "KINESIS_OFFSET_UNREADABLE.*version"),
        (lambda offset: json.dumps(json.loads(offset) | {"version": 9}), "KINESIS_OFFSET_TOO_NEW"),
    ],
    ids=["cut", "foreign", "newer"],
)
def test_an_invalid_offset_is_refused(
    spark: SparkSession, stream: Stream, checkpoint: Path, change: Callable[[str], str], says: str
) -> None:
    stream.put(20)
    collector = Collector()
    with running(spark, stream.source(), checkpoint, collector) as query:
        drain(stream, query, collector)
    file = newest_offset(checkpoint)
    *first, offset = file.read_text().splitlines()
    rewrite(file, "\n".join([*first, change(offset)]))
    assert_refused(spark, stream, checkpoint, says)


def test_the_checkpoint_of_another_stream_is_refused(
    spark: SparkSession, stream: Stream, checkpoint: Path
) -> None:
    with running(spark, stream.source(), checkpoint, Collector()):
        wait_started(checkpoint)
    assert_refused(
        spark, Stream(stream.endpoint), checkpoint, f"KINESIS_OTHER_STREAM.*{stream.name}"
    )
