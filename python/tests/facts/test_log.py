"""The logs of a checkpoint."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path

import pytest

from spark_kinesis import CheckpointError
from spark_kinesis._offsets import SourceOffset  # noqa: TC001
from spark_kinesis.tools.facts.checkpoints import Checkpoint, next_position, next_positions
from spark_kinesis.tools.facts.files import open_files

ARN = "arn:aws:kinesis:eu-west-1:123456789012:stream/orders"


def offset(number: int) -> str:
    shards = f'{{"shardId-000000000000":"{number}"}}'
    stream = f'{{"created":"2026-01-02T03:04:05Z","shards":{shards}}}'
    return f'{{"version":1,"streams":{{"{ARN}":{stream}}}}}'


def write(folder: Path, batch: int, *sources: str, version: str = "v1") -> None:
    lines = [version, f'{{"batchTimestampMs":{1767340800000 + batch},"conf":{{}}}}', *sources]
    for name, text in (
        ("offsets", "\n".join(lines)),
        ("commits", 'v1\n{"nextBatchWatermarkMs":0}'),
    ):
        (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / name / str(batch)).write_text(text)
        (folder / name / f".{batch}.crc").write_text("a checksum of Hadoop")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for batch in (9, 10, 11):
        write(tmp_path, batch, offset(batch))
    (tmp_path / "commits" / "11").unlink()
    (tmp_path / "metadata").write_text('{"id":"0f7f"}')
    return tmp_path


@pytest.fixture
def checkpoint(folder: Path) -> Checkpoint:
    return Checkpoint(open_files(str(folder)))


def test_batches_are_numbers_in_order(checkpoint: Checkpoint) -> None:
    assert checkpoint.planned() == [9, 10, 11]
    assert checkpoint.completed() == [9, 10]


def test_a_batch_has_its_time_and_its_end(checkpoint: Checkpoint) -> None:
    batch = checkpoint.batch(10)
    assert batch.planned == datetime(2026, 1, 2, 8, 0, 0, 10000, tzinfo=timezone.utc)
    source = checkpoint.source(batch)
    shards = checkpoint.position(batch, source).streams[ARN].shards
    assert shards["shardId-000000000000"].sequence_number == 10


def test_a_batch_that_is_not_there_is_refused(checkpoint: Checkpoint, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"no micro-batch 7\. It has those from 9 to 11"):
        checkpoint.batch(7)
    with pytest.raises(CheckpointError, match="it is not a checkpoint, or its query never ran"):
        Checkpoint(open_files(str(tmp_path / "elsewhere"))).batch(0)


def test_sources_are_told_apart(folder: Path, checkpoint: Checkpoint) -> None:
    write(folder, 12, '{"topic":{"0":1}}', offset(1), "-", offset(2))
    batch = checkpoint.batch(12)
    assert batch.sources == ("0", "1", "2", "3")
    assert checkpoint.kinesis_sources(batch) == ["1", "3"]
    assert checkpoint.source(batch, "3") == "3"
    with pytest.raises(CheckpointError, match=r"name one of them. Its Kinesis sources are: 1, 3"):
        checkpoint.source(batch)
    for wrong in ("0", "2", "7"):
        with pytest.raises(CheckpointError, match=f"there is no source {wrong}"):
            checkpoint.source(batch, wrong)
    with pytest.raises(CheckpointError, match="source 2, has no offset"):
        checkpoint.position(batch, "2")


def test_named_sources_are_told_apart(folder: Path, checkpoint: Checkpoint) -> None:
    lines = (f"orders:{offset(1)}", 'clicks:{"topic":{"0":1}}', "late:-")
    write(folder, 12, *lines, version="v2")
    batch = checkpoint.batch(12)
    assert batch.planned == datetime(2026, 1, 2, 8, 0, 0, 12000, tzinfo=timezone.utc)
    assert batch.sources == ("orders", "clicks", "late")
    assert checkpoint.source(batch) == checkpoint.source(batch, "orders") == "orders"
    shards = checkpoint.position(batch, "orders").streams[ARN].shards
    assert shards["shardId-000000000000"].sequence_number == 1
    with pytest.raises(CheckpointError, match=r"no source 0\. Its Kinesis sources are: orders"):
        checkpoint.source(batch, "0")


def test_a_later_format_is_refused(folder: Path, checkpoint: Checkpoint) -> None:
    write(folder, 12, offset(1), version="v3")
    with pytest.raises(CheckpointError, match=r"offsets/12 is a log of offsets of version 3\."):
        checkpoint.batch(12)


@pytest.mark.parametrize("source", ["0", "orders"])
def test_the_first_position(folder: Path, checkpoint: Checkpoint, source: str) -> None:
    assert checkpoint.initial(source) is None
    with pytest.raises(CheckpointError, match="no position: it is not a checkpoint"):
        checkpoint.start()
    (folder / "sources" / source).mkdir(parents=True)
    (folder / "sources" / source / "initial-offset.json").write_text(offset(3))
    found, initial = checkpoint.start()
    assert found == source
    assert initial.streams[ARN].shards["shardId-000000000000"].sequence_number == 3
    assert checkpoint.initial(source) == initial


def number(position: SourceOffset) -> int | None:
    return position.streams[ARN].shards["shardId-000000000000"].sequence_number


def test_a_query_continues_after_its_newest_completed_micro_batch(
    folder: Path, checkpoint: Checkpoint
) -> None:
    assert number(next_position(checkpoint)) == 10
    assert {source: number(it) for source, it in next_positions(checkpoint).items()} == {"0": 10}
    for batch in (9, 10):
        (folder / "commits" / str(batch)).unlink()
    with pytest.raises(CheckpointError, match="has no position: it is not a checkpoint"):
        next_position(checkpoint)
    (folder / "sources" / "0").mkdir(parents=True)
    (folder / "sources" / "0" / "initial-offset.json").write_text(offset(3))
    assert number(next_position(checkpoint, "0")) == 3
    with pytest.raises(CheckpointError, match="there is no source 1"):
        next_position(checkpoint, "1")


def test_a_source_without_an_end_continues_where_it_began(
    folder: Path, checkpoint: Checkpoint
) -> None:
    write(folder, 10, offset(10), "-")
    write(folder, 11, offset(11), offset(21))
    (folder / "commits" / "11").unlink()
    (folder / "sources" / "1").mkdir(parents=True)
    (folder / "sources" / "1" / "initial-offset.json").write_text(offset(20))
    found = next_positions(checkpoint)
    assert {source: number(it) for source, it in found.items()} == {"0": 10, "1": 20}
