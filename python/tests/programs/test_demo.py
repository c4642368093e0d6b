"""The demo: its log, its books, its display and its start."""

from __future__ import annotations

import json
import random
import sys
import threading
import time
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from python.tests.programs.deliveries import deliver, lines_of
from spark_kinesis.demo import environment, story
from spark_kinesis.demo.access_log import CLIENTS, Request, Visitors, parse
from spark_kinesis.demo.books import Books
from spark_kinesis.demo.screen import panel, sentence, sparkline
from spark_kinesis.demo.shards import Shard, children
from spark_kinesis.demo.snapshot import MicroBatch, Rates, Snapshot
from spark_kinesis.demo.verdict import Arrival

WORDS = st.from_regex(r"[!-~]+", fullmatch=True)
REQUESTS = st.builds(
    Request,
    client=WORDS,
    time=st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1)).map(  # noqa: DTZ001 next line
        lambda time: time.replace(microsecond=0, tzinfo=timezone.utc)
    ),
    page=WORDS,
    number=st.integers(min_value=1, max_value=2**63 - 1),
    status=st.integers(min_value=100, max_value=599),
    size=st.integers(min_value=0),
)


@given(REQUESTS)
def test_a_line_is_parsed_into_its_request(request: Request) -> None:
    assert parse(request.line()) == request


@pytest.mark.parametrize("line", ["", "10.0.0.1 - -", "a - - [now] POST"])
def test_another_line_is_refused_by_name(line: str) -> None:
    with pytest.raises(ValueError, match="not a line of this log"):
        parse(line)


def test_a_clients_requests_are_numbered_without_a_gap() -> None:
    visitors = Visitors(random.Random(1))
    rounds = [visitors.ask(datetime.now(timezone.utc)) for _ in range(3)]
    assert [[r.number for r in asked] for asked in rounds] == [
        [n] * len(CLIENTS) for n in (1, 2, 3)
    ]
    assert len({r.client for r in rounds[0]}) == len(CLIENTS)


def parsed(found: Arrival) -> bytes:
    fields = {name: getattr(found, name) for name in Arrival.__slots__}
    return json.dumps({**fields, "page": "/", "status": 200}).encode()


def counted(batch: int, status: int, lines: int) -> bytes:
    return json.dumps({"batch": batch, "status": status, "lines": lines}).encode()


def test_the_books_are_complete_when_all_lines_arrived_and_are_counted() -> None:
    books = Books()
    arrivals = deliver(["a", "b", "a"])
    books.wrote([(line, "shardId-000000000000") for line in lines_of(arrivals)], 1.0)
    for found in arrivals:
        assert not books.is_complete()
        books.arrived(parsed(found), 1.5)
    for _ in range(2):  # a repeated record replaces the first
        books.counted(counted(0, 404, 1), 2.0)
        assert not books.is_complete()
    books.counted(counted(0, 200, 2), 2.0)
    assert books.is_complete()
    assert books.totals().by_status == {200: 2, 404: 1}
    assert books.verdict().is_flawless


def shard(number: int, *parents: int, is_open: bool = True) -> Shard:
    ids = tuple(f"shardId-{parent:012}" for parent in parents)
    return Shard(id=f"shardId-{number:012}", is_open=is_open, first=0, last=1, parents=ids)


def test_the_children_of_shards() -> None:
    shards = [shard(0, is_open=False), shard(1), shard(2, 0), shard(3, 0)]
    assert children(shards, [shards[0]]) == shards[2:]
    assert children(shards, [shards[1]]) == []


def test_the_screen_shows_shards_and_their_lag() -> None:
    books = Books()
    arrivals = deliver(["a", "b", "a"])
    books.wrote([(line, "shardId-000000000000") for line in lines_of(arrivals)], 1.0)
    books.arrived(parsed(arrivals[0]), 1.5)
    snapshot = Snapshot(
        seconds=2.0,
        query="query running",
        totals=books.totals(),
        shards=[shard(0, is_open=False), shard(1, is_open=False), shard(2, 0, 1)],
        batch=MicroBatch(id=4, rows=1, milliseconds=20),
        rates=[(500, 0)],
    )
    assert "lag by shard 0:2 2:0  batch 4 20 ms" in sentence(snapshot)
    assert panel(snapshot).width == 78


def test_bars_grow_with_their_rate() -> None:
    bars = sparkline([0, 1, 1000, 2000, 9999])
    assert bars == " ▁▄██"


def test_rates_are_per_second_of_elapsed_time() -> None:
    rates = Rates()
    for now, written, read in ((0.5, 200, 0), (1.0, 500, 100), (1.9, 900, 100), (3.0, 1500, 300)):
        rates.note(now, written, read)
    assert rates.seconds() == [(500, 100), (500, 100)]


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "find_spec", lambda name: None if name == "boto3" else name)
    said = environment.missing() or ""
    assert "needs boto3:" in said
    assert "spark-kinesis[demo]" in said


def java_home(folder: Path, version: str) -> str:
    java = folder / "bin" / "java"
    java.parent.mkdir()
    java.write_text(f"#!{sys.executable}\nimport sys\nprint('{version}', file=sys.stderr)\n")
    java.chmod(0o755)
    return str(folder)


@pytest.mark.parametrize(
    ("version", "complaint"),
    [
        ('openjdk version "17.0.2" 2022-01-18', None),
        ('openjdk version "21"', None),
        ('openjdk version "23.0.1" 2024-10-15', None),
        ('openjdk version "24" 2025-03-18', "is Java 24"),
        ('java version "1.8.0_402"', "is Java 8"),
        ('openjdk version "11.0.1"', "is Java 11"),
    ],
)
def test_a_java_that_spark_does_not_run_on_is_refused(
    version: str, complaint: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", java_home(tmp_path, version))
    said = environment.missing_java()
    assert (said is None) if complaint is None else complaint in (said or "")


def test_a_missing_java_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert "which has no Java" in (environment.missing_java() or "")
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "no java on the PATH" in (environment.missing_java() or "")


class Watcher:
    """A stage without a display."""

    def watch_until(self, is_so: Callable[[], bool], seconds: float) -> bool:
        until = time.monotonic() + seconds
        while not (so := is_so()) and time.monotonic() < until:
            time.sleep(0.01)
        return so


def test_the_start_of_spark_has_a_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    enough = threading.Event()
    monkeypatch.setattr(story, "SPARK_SECONDS", 0.05)
    monkeypatch.setattr(story, "start_session", lambda _: enough.wait(60))
    watcher: Any = Watcher()
    with pytest.raises(TimeoutError, match="Spark did not start within"):
        story.start_spark(watcher, Path("spark.log"))
    enough.set()


def test_an_error_of_the_start_of_spark_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: Path) -> None:
        raise RuntimeError("no Spark today")

    monkeypatch.setattr(story, "start_session", fail)
    watcher: Any = Watcher()
    with pytest.raises(RuntimeError, match="no Spark today"):
        story.start_spark(watcher, Path("spark.log"))
