"""Checkpoints, with faults."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from spark_kinesis._offsets import Progress, ShardOffset
from spark_kinesis.tools.examination import Report, State
from tests.simulator.commands.doctor.support import FIRST, after, found, problems, put

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from spark_kinesis.local import LocalKinesis


def test_a_checkpoint_shows_lag_and_time_left(
    local: LocalKinesis, look: Callable[..., Report], checkpoint: Callable[..., str]
) -> None:
    read, start = put(local, "read"), local.now
    local.advance(timedelta(hours=2))
    put(local, "unread")
    put(local, "unread, too")
    local.advance(timedelta(hours=3))
    put(local, "newest")
    folder = checkpoint(
        shardId_000000000000=after(read, start),
        shardId_000000000001=ShardOffset(progress=Progress.TRIM_HORIZON),
    )
    report = look("orders", checkpoint=folder)
    assert not problems(report), report
    lag = found(report, "checkpoint", "lag")
    assert lag.seen == f"orders is at most 3 h behind, in {FIRST}"
    assert "19 h are left" in found(report, "checkpoint", "loss").seen
    local.advance(timedelta(hours=18))
    near = found(look("orders", checkpoint=folder), "checkpoint", "loss")
    assert (near.state, "Only 1 h are left" in near.seen) == (State.PROBLEM, True)
    local.advance(timedelta(hours=2))
    lost = found(look(checkpoint=folder), "checkpoint", "loss")
    assert (lost.state, "KINESIS_DATA_LOSS" in lost.seen) == (State.PROBLEM, True)


def test_two_sources_of_a_stream_are_told_apart(
    local: LocalKinesis, look: Callable[..., Report], checkpoint: Callable[..., str]
) -> None:
    first, start = put(local, "read by one source"), local.now
    horizon = ShardOffset(progress=Progress.TRIM_HORIZON)
    folder = checkpoint(shardId_000000000000=horizon, shardId_000000000001=horizon)
    log = Path(folder) / "offsets" / "3"
    behind = log.read_text(encoding="utf-8")
    checkpoint(shardId_000000000000=after(first, start), shardId_000000000001=horizon)
    ahead = log.read_text(encoding="utf-8").splitlines()[-1]
    log.write_text(f"{behind}\n{ahead}", encoding="utf-8")
    # The service tells its time in whole seconds, rounded down.
    local.advance(timedelta(hours=2, seconds=1))
    lags = [it.seen for it in look(checkpoint=folder) if it.subject == "lag"]
    assert lags == [
        f"orders (source 0) is at most 2 h behind, in {FIRST}",
        "orders (source 1) is read to its end",
    ]


def test_a_checkpoint_of_a_stream_made_again_is_a_problem(
    local: LocalKinesis, look: Callable[..., Report], checkpoint: Callable[..., str]
) -> None:
    folder = checkpoint(shardId_000000000000=after(1, local.now))
    local.delete("orders")
    local.advance(timedelta(hours=1))
    local.create("orders", 2)
    (finding,) = problems(look(checkpoint=folder))
    assert "deleted and created again" in finding.seen


def test_a_checkpoint_of_another_stream_is_a_problem(
    local: LocalKinesis, look: Callable[..., Report], checkpoint: Callable[..., str]
) -> None:
    local.create("refunds", 1)
    folder = checkpoint(shardId_000000000000=after(1, local.now))
    streams = found(look("refunds", checkpoint=folder), "checkpoint", "streams")
    local.delete("refunds")
    assert (streams.state, "not to refunds" in streams.seen) == (State.PROBLEM, True)


def test_reads_that_are_throttled_leave_the_lag_unknown(
    local: LocalKinesis, look: Callable[..., Report], checkpoint: Callable[..., str]
) -> None:
    folder = checkpoint(shardId_000000000000=after(put(local, "x"), local.now))
    with local.fault("throttle", operation="GetRecords"):
        lag = found(look(checkpoint=folder), "checkpoint", "lag")
    assert (lag.state, "Throughput" in lag.seen) == (State.UNKNOWN, True)


def test_a_damaged_checkpoint_is_a_problem(
    look: Callable[..., Report], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "offsets").mkdir()
    (tmp_path / "offsets" / "0").write_bytes(b"\xff\xfe")
    damaged = found(look(checkpoint=str(tmp_path)), "checkpoint", "log")
    assert (damaged.state, "cannot be read" in damaged.seen) == (State.PROBLEM, True)

    def refuse(*_: object) -> str:
        raise PermissionError("Permission denied")

    monkeypatch.setattr(Path, "iterdir", refuse)
    locked = found(look(checkpoint=str(tmp_path)), "checkpoint", "log")
    assert (locked.state, "Permission denied" in locked.seen) == (State.PROBLEM, True)


def test_a_folder_that_is_no_checkpoint_is_a_problem(
    look: Callable[..., Report], tmp_path: Path
) -> None:
    log = found(look(checkpoint=str(tmp_path)), "checkpoint", "log")
    assert (log.state, "has no position" in log.seen) == (State.PROBLEM, True)


def test_the_progress_names_each_check(
    local: LocalKinesis, look: Callable[..., Report], checkpoint: Callable[..., str]
) -> None:
    steps: list[str] = []
    folder = checkpoint(shardId_000000000000=after(put(local, "x"), local.now))
    look("orders", checkpoint=folder, on_step=steps.append)
    assert steps == [
        *("software", "access", "network", "stream", "quota", "permissions", "checkpoint")
    ]
