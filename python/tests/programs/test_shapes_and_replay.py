"""The record generator: rates that change, and records that are written again."""

from __future__ import annotations

import base64
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from python.tests.programs.test_generate import World
from spark_kinesis.generate import __main__ as command
from spark_kinesis.generate.pace import Pace
from spark_kinesis.generate.progress import Goal, Quiet
from spark_kinesis.generate.replay import Recorded, parse_rows, replay
from spark_kinesis.generate.shape import NAMES, Shape, largest_peak, usual_peak

SHAPES = st.sampled_from(NAMES).flatmap(
    lambda name: st.floats(1.0, largest_peak(name)).flatmap(
        lambda peak: st.floats(0.5, 500.0).map(
            lambda period: Shape(name=name, period=period, peak=peak)
        )
    )
)


@given(SHAPES, st.integers(0, 20))
def test_each_period_has_the_mean_rate(shape: Shape, periods: int) -> None:
    end = periods * shape.period
    assert shape.warp(end) == pytest.approx(end)


@given(SHAPES, st.lists(st.floats(0, 5), min_size=2))
def test_no_rate_is_negative_or_above_the_peak(shape: Shape, parts: list[float]) -> None:
    times = sorted(it * shape.period for it in parts)
    for before, after in pairwise(times):
        made = shape.warp(after) - shape.warp(before)
        assert -1e-6 <= made <= shape.peak * (after - before) + 1e-6


@given(SHAPES, st.floats(0, 5))
def test_records_are_due_when_the_shape_has_made_them(shape: Shape, part: float) -> None:
    steady = part * shape.period
    time = shape.unwarp(steady)
    assert shape.warp(time) == pytest.approx(steady, abs=1e-6)
    if time > 1e-3:  # not earlier
        assert shape.warp(time - 1e-3) <= steady + 1e-9


def written(shape: Shape, *, seconds: float) -> list[tuple[float, int]]:
    """The times and sizes of requests at 100 records per second on average."""
    pace, now, sent = Pace(rate=100.0, shape=shape), 0.0, []
    while now < seconds:
        wait = pace.wait(now)
        if wait:
            now += wait
            continue
        sent.append((now, pace.batch))
        pace = pace.after(now, pace.batch)
    return sent


def count(sent: list[tuple[float, int]], begin: float, end: float) -> int:
    return sum(size for at, size in sent if begin <= at < end)


def test_a_burst_has_half_of_the_records_in_a_tenth_of_the_time() -> None:
    sent = written(Shape(name="burst", period=10.0, peak=5.0), seconds=20.0)
    assert count(sent, 0, 20) == pytest.approx(2000, abs=20)
    for begin in (0, 10):
        assert count(sent, begin, begin + 1) == pytest.approx(500, abs=20)
        assert count(sent, begin + 1, begin + 10) == pytest.approx(500, abs=20)


def test_steps_go_up_and_back() -> None:
    sent = written(Shape(name="steps", period=8.0, peak=1.6), seconds=16.0)
    steps = [count(sent, begin, begin + 2) for begin in range(0, 16, 2)]
    assert steps == pytest.approx([80, 160, 240, 320] * 2, abs=20)


def test_a_sine_rises_first() -> None:
    sent = written(Shape(name="sine", period=10.0, peak=2.0), seconds=10.0)
    high, low = count(sent, 0, 5), count(sent, 5, 10)
    # The integral of sin over half a period is 1 / pi of the period.
    assert high == pytest.approx(500 + 1000 / 3.1416, abs=20)
    assert high + low == pytest.approx(1000, abs=20)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--shape", "sine", "--peak", "2.5"], "--peak must be from 1 to 2 for --shape sine"),
        (["--peak", "2"], "--peak must be from 1 to 1 for --shape steady"),
        (["--shape", "burst", "--peak", "0.5"], "--peak must be from 1 to 10"),
        (["--shape", "steps", "--period", "0"], "--period must be a number above 0"),
        (["--shape", "round"], "invalid choice"),
        (["--replay", "nothing.jsonl"], "nothing.jsonl"),
        (["--replay", "x", "--rate", "5"], "--replay and --rate exclude each other"),
        (["--replay", "x", "--template", "y"], "--replay and --template exclude each other"),
        (["--replay", "x", "--speed", "0"], "--speed must be a number above 0"),
    ],
)
def test_wrong_options_are_named(
    words: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        command.main(["--stream", "orders", *words])
    assert ended.value.code == 2
    assert complaint in capsys.readouterr().err


def test_an_unknown_shape_is_refused() -> None:
    with pytest.raises(ValueError, match="--shape must be one of steady, burst, sine, steps"):
        Shape(name="round")
    assert [usual_peak(name) <= largest_peak(name) for name in NAMES] == [True] * 4


def row(second: float, text: str, *, shard: str = "s-1", key: str | None = "k") -> str:
    arrived = f"2026-11-23T12:00:{second:06.3f}Z"
    data = base64.b64encode(text.encode()).decode()
    fields: dict[str, Any] = {"arrived": arrived, "shard": shard, "partitionKey": key}
    return json.dumps({**fields, "sequenceNumber": "77", "data": data})


def test_rows_are_ordered_by_arrival_and_by_shard() -> None:
    lines = [
        row(10, "one"),
        row(12, "three"),
        row(11.5, "four"),  # its clock went back, but the shard gave it later
        "",
        row(11, "two", shard="s-2", key=None),
    ]
    assert parse_rows(lines, "f") == [
        Recorded(at=0.0, key="k", data=b"one"),
        Recorded(at=1.0, key="77", data=b"two"),
        Recorded(at=2.0, key="k", data=b"three"),
        Recorded(at=2.0, key="k", data=b"four"),
    ]
    assert parse_rows([], "f") == []


@pytest.mark.parametrize(
    "line", ["x", "[]", "{}", '"a"', row(1, "a").replace("data", "date"), row(1, "a")[:-3] + '?"}']
)
def test_another_line_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="--replay: line 2 of f is not a row of spark-kinesis"):
        parse_rows([row(1, "a"), line], "f")


def replayed(world: World, rows: list[Recorded], *, speed: float = 1.0, **goal: Any) -> None:
    replay(rows, world.writer(), world.times(), Quiet(), speed=speed, goal=Goal(**goal))


ROWS = [
    Recorded(at=at, key="k", data=text.encode())
    for at, text in ((0.0, "a"), (0.0, "b"), (2.0, "c"), (2.0, "d"), (6.0, "e"))
]


def test_records_are_written_with_their_times() -> None:
    world = World()
    replayed(world, ROWS)
    assert world.sent == [(100.0, ["a", "b"]), (102.0, ["c", "d"]), (106.0, ["e"])]
    fast = World()
    replayed(fast, ROWS, speed=4.0)
    assert fast.sent == [(100.0, ["a", "b"]), (100.5, ["c", "d"]), (101.5, ["e"])]


def test_a_slow_stream_gets_what_is_due_at_once() -> None:
    world = World(delay=3.0)
    replayed(world, ROWS)
    assert world.sent == [(100.0, ["a", "b"]), (103.0, ["c", "d"]), (106.0, ["e"])]


def test_a_replay_ends_at_its_goal() -> None:
    world = World()
    replayed(world, ROWS, count=3)
    assert [texts for _, texts in world.sent] == [["a", "b"], ["c"]]
    world = World()
    replayed(world, ROWS, seconds=5.0)
    assert [texts for _, texts in world.sent] == [["a", "b"], ["c", "d"]]


def test_a_request_has_at_most_500_records_and_5_mib() -> None:
    world = World()
    replayed(world, [Recorded(at=0, key="k", data=b"x")] * 1200)
    assert [len(texts) for _, texts in world.sent] == [500, 500, 200]
    world = World()
    replayed(world, [Recorded(at=0, key="k", data=b"x" * 2_000_000)] * 5)
    assert [len(texts) for _, texts in world.sent] == [2, 2, 1]


def test_a_file_is_parsed_before_anything_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(row(1, "a") + "\nwrong\n", encoding="utf-8")
    with pytest.raises(SystemExit):
        command.main(["--stream", "orders", "--replay", str(file)])
    assert "line 2 of" in capsys.readouterr().err
