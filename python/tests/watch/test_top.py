"""The micro-batches of a query, from the log in its checkpoint."""

from __future__ import annotations

import json
import socket
from datetime import datetime
from pathlib import Path

import pytest

from spark_kinesis import CheckpointError
from spark_kinesis._offsets import (
    Progress,
    ShardOffset,
    SourceOffset,
    StreamOffset,
    encode,
)
from spark_kinesis._watch.snapshot import MicroBatch, Step
from spark_kinesis.tools import top
from spark_kinesis.tools.cli import run
from spark_kinesis.tools.facts.checkpoints import Checkpoint
from spark_kinesis.tools.facts.files import open_files
from spark_kinesis.tools.top import MOST_STEPS, read_log

from .given import ARN, after, ago, key, name

Log = tuple[list[Step], MicroBatch | None, SourceOffset]


class Written:
    """A checkpoint that a test writes by hand."""

    def __init__(self, folder: Path) -> None:
        for part in ("offsets", "commits", "sources/0"):
            (folder / part).mkdir(parents=True)
        self.folder = folder

    @property
    def log(self) -> Log:
        return read_log(Checkpoint(open_files(str(self.folder))), None)

    def start(self, position: ShardOffset) -> None:
        (self.folder / "sources/0/initial-offset.json").write_text(text(position))

    def plan(self, number: int, at: datetime, position: ShardOffset) -> None:
        head = json.dumps({"batchTimestampMs": int(at.timestamp() * 1000)})
        (self.folder / f"offsets/{number}").write_text(f"v1\n{head}\n{text(position)}")

    def complete(self, *numbers: int) -> None:
        for number in numbers:
            (self.folder / f"commits/{number}").write_text("v1\n{}")


def text(position: ShardOffset) -> str:
    stream = StreamOffset(created="2026-01-01T00:00:00Z", shards={name(0): position})
    return encode(SourceOffset(streams={ARN: stream}))


@pytest.fixture
def written(tmp_path: Path) -> Written:
    return Written(tmp_path)


def end(log: Log) -> ShardOffset:
    """The position in the only shard."""
    return log[2].streams[ARN].shards[name(0)]


def test_the_position_is_the_end_of_the_last_completed_micro_batch(written: Written) -> None:
    written.plan(0, ago(20), after(1, ago(25)))
    written.plan(1, ago(10), after(2, ago(15)))
    written.plan(2, ago(5), after(3, ago(6)))
    written.complete(0, 1)
    steps, batch, _ = written.log
    assert end(written.log) == after(2, ago(15))
    assert [(it.at, it.complete) for it in steps] == [
        (ago(20), {key(0): ago(25)}),
        (ago(10), {key(0): ago(15)}),
    ]
    assert batch == MicroBatch(number=2, planned=ago(5), is_running=True)
    written.complete(2)
    assert end(written.log) == after(3, ago(6))
    assert written.log[1] == MicroBatch(number=2, planned=ago(5), is_running=False)


def test_before_the_first_one_it_is_the_start(written: Written) -> None:
    at = ShardOffset(progress=Progress.AT, time="2026-11-23T11:00:00Z")
    written.start(at)
    assert (end(written.log), written.log[1]) == (at, None)
    written.plan(0, ago(1), after(1))
    assert end(written.log) == at
    assert written.log[1] is not None


def test_a_rewind_moves_the_position(written: Written) -> None:
    written.plan(0, ago(20), after(1, ago(25)))
    written.plan(1, ago(10), after(2, ago(15)))
    written.complete(0, 1)
    assert end(written.log) == after(2, ago(15))
    written.plan(1, ago(10), after(1, ago(25)))
    assert end(written.log) == after(1, ago(25))


def test_a_micro_batch_without_data_is_no_step(written: Written) -> None:
    for number in range(10):  # after each one with data, Spark plans one for the watermark
        read = number // 2 * 2
        written.plan(number, ago(100 - 10 * read - number % 2), after(read, ago(101 - 10 * read)))
    written.complete(*range(10))
    assert [it.at for it in written.log[0]] == [ago(100 - 20 * number) for number in range(5)]


def test_only_the_newest_micro_batches_are_read(written: Written) -> None:
    for number in range(30):
        written.plan(number, ago(30 - number), after(number, ago(31 - number)))
    written.complete(*range(30))
    (written.folder / "offsets/9").write_text("damaged")
    assert [it.at for it in written.log[0]] == [ago(it) for it in range(MOST_STEPS, 0, -1)]


def test_an_old_micro_batch_may_vanish(written: Written, monkeypatch: pytest.MonkeyPatch) -> None:
    written.plan(1, ago(10), after(2, ago(15)))
    written.complete(1)
    monkeypatch.setattr(Checkpoint, "planned", lambda _: [0, 1])
    assert [it.at for it in written.log[0]] == [ago(10)]
    monkeypatch.setattr(Checkpoint, "planned", lambda _: [1, 2])
    with pytest.raises(CheckpointError, match="has no micro-batch 2"):
        _ = written.log


def test_a_query_whose_source_has_a_name_is_followed(written: Written) -> None:
    at = ShardOffset(progress=Progress.AT, time="2026-11-23T11:00:00Z")
    (written.folder / "sources/orders").mkdir()
    (written.folder / "sources/orders/initial-offset.json").write_text(text(at))
    assert end(written.log) == at
    (written.folder / "offsets/0").write_text(f"v2\n{{}}\norders:{text(after(1))}")
    written.complete(0)
    assert end(written.log) == after(1)


def test_another_folder_is_refused(written: Written) -> None:
    with pytest.raises(CheckpointError, match="it is not a checkpoint"):
        _ = written.log


def test_a_service_that_does_not_answer_is_not_waited_for_long(
    written: Written, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    written.start(after(1))
    monkeypatch.setattr(top, "TIMEOUT_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        endpoint = f"http://127.0.0.1:{silent.getsockname()[1]}"
        words = ["top", "--once", "--checkpoint", str(written.folder), "--endpoint", endpoint]
        assert run(words) == 2
    assert "Read timeout" in capsys.readouterr().err
