"""The way of a query, from the log in its checkpoint."""

from __future__ import annotations

import json
import os
from datetime import datetime, timedelta
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
from spark_kinesis._watch.forecast import period
from spark_kinesis._watch.snapshot import MicroBatch
from spark_kinesis.tools.facts.checkpoints import Batch, Checkpoint
from spark_kinesis.tools.facts.files import open_files
from spark_kinesis.tools.top.steps import MOST_STEPS, StepLog

from .given import ARN, NOW, after, ago, key, name


class Written:
    """A checkpoint that a test writes by hand."""

    def __init__(self, folder: Path) -> None:
        for part in ("offsets", "commits", "sources/0"):
            (folder / part).mkdir(parents=True)
        self.folder = folder

    @property
    def log(self) -> StepLog:
        return StepLog(Checkpoint(open_files(str(self.folder))), None)

    def start(self, position: ShardOffset) -> None:
        (self.folder / "sources/0/initial-offset.json").write_text(text(position))

    def plan(self, number: int, at: datetime, position: ShardOffset) -> None:
        head = json.dumps({"batchTimestampMs": int(at.timestamp() * 1000)})
        (self.folder / f"offsets/{number}").write_text(f"v1\n{head}\n{text(position)}")

    def complete(self, *numbers: int) -> None:
        for number in numbers:
            file = self.folder / f"commits/{number}"
            file.write_text("v1\n{}")
            os.utime(file, (NOW.timestamp(), NOW.timestamp()))


def text(position: ShardOffset) -> str:
    stream = StreamOffset(created="2026-01-01T00:00:00Z", shards={name(0): position})
    return encode(SourceOffset(streams={ARN: stream}))


@pytest.fixture
def written(tmp_path: Path) -> Written:
    return Written(tmp_path)


def test_the_position_is_the_end_of_the_last_completed_micro_batch(written: Written) -> None:
    written.plan(0, ago(20), after(1, ago(25)))
    written.plan(1, ago(10), after(2, ago(15)))
    written.plan(2, ago(5), after(3, ago(6)))
    written.complete(0, 1)
    log = written.log
    log.refresh()
    assert log.position.streams[ARN].shards[name(0)] == after(2, ago(15))
    assert [(it.at, it.complete) for it in log.steps] == [
        (ago(20), {key(0): ago(25)}),
        (ago(10), {key(0): ago(15)}),
    ]
    assert log.batch == MicroBatch(number=2, planned=ago(5), is_running=True)
    written.complete(2)
    log.refresh()
    assert log.position.streams[ARN].shards[name(0)] == after(3, ago(6))
    took = timedelta(seconds=5)
    assert log.batch == MicroBatch(number=2, planned=ago(5), is_running=False, took=took)


def test_before_the_first_one_it_is_the_start(written: Written) -> None:
    at = ShardOffset(progress=Progress.AT, time="2026-11-23T11:00:00Z")
    written.start(at)
    log = written.log
    log.refresh()
    assert log.batch is None
    assert log.position.streams[ARN].shards[name(0)] == at
    written.plan(0, ago(1), after(1))
    log = written.log
    log.refresh()
    assert log.batch is not None
    assert log.position.streams[ARN].shards[name(0)] == at


def test_a_rewind_moves_the_position(written: Written) -> None:
    written.plan(0, ago(20), after(1, ago(25)))
    written.plan(1, ago(10), after(2, ago(15)))
    written.complete(0, 1)
    log = written.log
    log.refresh()
    written.plan(1, ago(10), after(1, ago(25)))
    log.refresh()
    assert log.position.streams[ARN].shards[name(0)] == after(1, ago(25))


def test_a_micro_batch_that_was_dropped_may_be_planned_with_another_end(written: Written) -> None:
    written.plan(0, ago(20), after(1, ago(25)))
    written.plan(1, ago(10), after(2, ago(15)))
    written.complete(0)
    log = written.log
    log.refresh()
    written.plan(1, ago(5), after(1, ago(25)))
    written.plan(2, ago(3), after(2, ago(15)))
    written.complete(1, 2)
    log.refresh()
    assert [it.complete[key(0)] for it in log.steps] == [ago(25), ago(15)]


def test_a_micro_batch_without_data_is_no_step(written: Written) -> None:
    for number in range(10):  # after each one with data, Spark plans one for the watermark
        read = number // 2 * 2
        written.plan(number, ago(100 - 10 * read - number % 2), after(read, ago(101 - 10 * read)))
    written.complete(*range(10))
    log = written.log
    log.refresh()
    assert [(it.at, it.number) for it in log.steps] == [
        (ago(100 - 20 * number), number) for number in range(5)
    ]
    assert period(log.steps) == timedelta(seconds=20)


@pytest.mark.parametrize(
    ("moved", "steps"),
    [([105, 115], [105, 115]), ([101, 111], [101, 111]), ([], [*range(101, 121)])],
)
def test_the_first_of_the_window_is_a_step_if_it_moved(
    written: Written, moved: list[int], steps: list[int]
) -> None:
    for number in range(100, 121):  # Spark has removed the earlier ones
        read = sum(number >= it for it in moved)
        written.plan(number, ago(10 * (121 - number)), after(read, ago(300 - read)))
    written.complete(*range(100, 121))
    log = written.log
    log.refresh()
    assert [it.at for it in log.steps] == [ago(10 * (121 - number)) for number in steps]


def test_one_move_in_the_window_leaves_the_usual_time(written: Written) -> None:
    for number in range(100, 120):
        read = int(number >= 110)
        written.plan(number, ago(10 * (120 - number)), after(read, ago(300 - read)))
    written.complete(*range(100, 120))
    log = written.log
    log.refresh()
    assert period(log.steps) == timedelta(seconds=10)


def test_each_micro_batch_is_read_once(written: Written, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(30):
        written.plan(number, ago(30 - number), after(number, ago(31 - number)))
    written.complete(*range(30))
    read: list[int] = []
    batch = Checkpoint.batch

    def noted(it: Checkpoint, number: int) -> Batch:
        read.append(number)
        return batch(it, number)

    monkeypatch.setattr(Checkpoint, "batch", noted)
    log = written.log
    log.refresh()
    log.refresh()
    assert read == [*range(30 - MOST_STEPS - 1, 30), 29]  # a rewind may move the newest one
    assert len(log.steps) == MOST_STEPS


def test_an_old_micro_batch_may_vanish(written: Written, monkeypatch: pytest.MonkeyPatch) -> None:
    written.plan(1, ago(10), after(2, ago(15)))
    written.complete(1)
    monkeypatch.setattr(Checkpoint, "planned", lambda _: [0, 1])
    log = written.log
    log.refresh()
    assert [it.at for it in log.steps] == [ago(10)]
    monkeypatch.setattr(Checkpoint, "planned", lambda _: [1, 2])
    with pytest.raises(CheckpointError, match="has no micro-batch 2"):
        log.refresh()


def test_a_query_whose_source_has_a_name_is_followed(written: Written) -> None:
    at = ShardOffset(progress=Progress.AT, time="2026-11-23T11:00:00Z")
    (written.folder / "sources/orders").mkdir()
    (written.folder / "sources/orders/initial-offset.json").write_text(text(at))
    log = written.log
    log.refresh()
    assert log.position.streams[ARN].shards[name(0)] == at
    (written.folder / "offsets/0").write_text(f"v2\n{{}}\norders:{text(after(1))}")
    written.complete(0)
    log.refresh()
    assert log.position.streams[ARN].shards[name(0)] == after(1)


def test_another_folder_is_refused(written: Written) -> None:
    with pytest.raises(CheckpointError, match="it is not a checkpoint"):
        written.log.refresh()
