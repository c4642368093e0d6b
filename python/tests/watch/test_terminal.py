"""What the terminal shows, in sentences."""

from __future__ import annotations

import io
from dataclasses import replace
from datetime import timedelta

import pytest
from rich.console import Console

from spark_kinesis._offsets import Progress, ShardOffset, short_id
from spark_kinesis._watch import sentences, terminal
from spark_kinesis._watch.snapshot import (
    Cost,
    Counters,
    Facts,
    MicroBatch,
    ShardFacts,
    snapshot,
)

from .given import NOW, after, ago, facts, family, name, steps


def text(found: Facts, height: int | None = None) -> list[str]:
    """The lines that a terminal shows."""
    console = Console(record=True, width=120, file=io.StringIO())
    console.print(terminal.screen(snapshot(found), height))
    return [it.rstrip() for it in console.export_text().splitlines()]


def shard(late: float) -> ShardFacts:
    """A shard in which a record arrives every second."""
    return ShardFacts(
        **family(),
        position=after(5, ago(late + 1)),
        lag=timedelta(seconds=late),
        records=round(late),
        arriving=1.0,
        backlog_rate=1.0,
        measured=NOW,
    )


BEHIND = {0: shard(3600), 1: shard(600)}
BATCH = MicroBatch(number=12, planned=ago(7), is_running=True)


def test_a_query_that_catches_up() -> None:
    found = facts(BEHIND, steps=steps(3.0, 0, 1, late=600), batch=BATCH)
    assert text(replace(found, cost=Cost(calls=0.04, bytes=0.006))) == [
        "query-1  /checkpoints/orders  2026-11-23 12:00:00 UTC",
        "The query catches up at 2026-11-23 12:30:00 UTC, in 30 min. Shard 0 decides.",
        "Lag 1 h, ~4,200 records unread; in 2.0/s, out 6.0/s; 2 shards read, 0 waiting.",
        "Micro-batch 12 has been running for 7 s. A micro-batch begins every 10 s.",
        "",
        "shard     lag  unread     in    out  speed  forecast (UTC)",
        "0         1 h  ~3,600  1.0/s  3.0/s  3.00x  catches up at 12:30:00",
        "1      10 min    ~600  1.0/s  3.0/s  3.00x  catches up at 12:05:00",
        "",
        (
            "In the last minute, this view used at most 4.0 % of the read calls and 0.6 % of the "
            "read bytes of a shard."
        ),
    ]


def test_a_query_that_loses_data_and_one_that_stopped() -> None:
    slow = facts(BEHIND, steps=steps(0.5, 0, 1, late=600), batch=BATCH)
    assert text(slow)[1] == (
        "The query falls behind: unread records expire at 2026-11-25 10:00:00 UTC, in 1 d 22 h. "
        "Shard 0 decides."
    )
    way = tuple(replace(it, at=it.at - timedelta(hours=1)) for it in steps(1.0, 0, 1, late=600))
    stopped = facts(BEHIND, steps=way, batch=replace(BATCH, is_running=False, planned=ago(3600)))
    lines = text(stopped)
    assert lines[1].startswith("The query falls behind: unread records expire at 2026-11-24 11:")
    assert lines[3] == (
        "Micro-batch 12 is completed. It began 1 h ago. A micro-batch begins every 10 s. The next "
        "one is overdue: the query is"
    )
    assert lines[4] == "stopped or stuck."


def test_expired_records_unknown_retention_and_notes() -> None:
    lost = facts({0: shard(90_000)}, steps=steps(1.0, 0), notes=("A call failed [/].",))
    assert text(lost)[1] == "Unread records expire now. Shard 0 decides."
    assert "A call failed [/]." in text(lost)
    unknown = facts({0: shard(3600)}, steps=steps(0.5, 0, late=3600), retention=None)
    assert text(unknown)[1].startswith("The query falls behind. The retention period is unknown.")
    assert text(unknown)[3] == "No micro-batch was planned yet."


def test_splits_merges_and_what_waits() -> None:
    finished = ShardOffset(progress=Progress.FINISHED)
    position = ShardOffset(
        progress=Progress.TRIM_HORIZON, waits_for=(name(1), name(2)), complete_as_of=ago(5)
    )
    shards = {
        0: ShardFacts(**family(is_open=False), position=None),
        1: ShardFacts(**family(0, is_open=False), position=finished),
        2: replace(shard(5), **family(0, is_open=False), refused=3),
        3: ShardFacts(**family(1, 2), position=position, lag=timedelta(seconds=5)),
        4: replace(
            shard(0), **family(), records=0, is_counted=True, arriving=None, backlog_rate=None
        ),
    }
    lines = text(facts(shards, steps=steps(1.0, 2)))
    table = lines.index("shard  lag  unread     in    out  speed  forecast (UTC)")
    assert lines[table + 1 : -2] == [
        "2      5 s      ~5  1.0/s  1.0/s  1.00x  caught up (3 reads refused)",
        "3      5 s       ?      ?      ?  1.00x  waits for 1, 2",
        "4      0 s       0      ?      ?  1.00x  caught up",
        "",
        "Splits and merges of orders",
        "0  closed, is done",
        "   └─ 1  closed, is done",
        "      └─ 3 = 1 + 2  open, waits",
        "   └─ 2  closed, is read",
        "4  open, is read",
    ]


def test_a_large_stream_fits_on_the_terminal() -> None:
    shards = {number: shard(60 + number) for number in range(1000)}
    lines = text(facts(shards, steps=steps(1.0, *range(1000)), batch=BATCH), height=24)
    assert len(lines) <= 24
    assert lines[-3] == "and 988 more shards with a smaller lag"
    assert lines[6].startswith("999 ")


def test_what_only_the_query_knows() -> None:
    counters = Counters(
        throttled_requests=7,
        retried_requests=2,
        reread_ranges=1,
        lost_ranges=0,
        buffered_bytes=12_500_000,
        spilled_bytes=999,
        fetched_records=12_345,
    )
    took = timedelta(seconds=1.6)
    batch = replace(
        BATCH, is_running=False, rows=500, took=took, phases={"addBatch": 1500, "walCommit": 20}
    )
    found = facts(BEHIND, steps=steps(1.0, 0, 1), batch=batch)
    lines = text(replace(found, counters=counters, processed=1234))
    assert "in 1,234/s, out 1,234/s" in lines[2]
    assert lines[3].startswith(
        "Micro-batch 12 is completed, 500 rows. It began 7 s ago and took 2 s."
    )
    assert lines[4:7] == [
        "Phases: addBatch 1,500 ms, walCommit 20 ms.",
        (
            "In this run: 12,345 records fetched, 7 requests throttled, 2 retried, 1 ranges read "
            "again, 0 lost. Read ahead: 12.5 MB"
        ),
        "in memory, 999 B on disk.",
    ]
    assert lines[-1] == "This view reads nothing from the stream."


def test_a_snapshot_is_one_line_without_a_terminal() -> None:
    line = sentences.line(snapshot(facts(BEHIND, steps=steps(3.0, 0, 1, late=600), batch=BATCH)))
    assert line == (
        "2026-11-23 12:00:00 UTC  batch 12  Lag 1 h, ~4,200 records unread; in 2.0/s, out 6.0/s; "
        "2 shards read, 0 waiting.  The query catches up at 2026-11-23 12:30:00 UTC, in 30 min. "
        "Shard 0 decides."
    )


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (0.25, "250 ms"),
        (0.9999, "1 s"),
        (59.6, "1 min"),
        (61, "1 min 1 s"),
        (7200, "2 h"),
        (90_061, "1 d 1 h"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert sentences.duration(timedelta(seconds=seconds)) == text


def test_other_shard_names_are_not_shortened() -> None:
    assert short_id("shardId-000000000012") == "12"
    assert short_id("shardId-12") == "shardId-12"
    assert short_id("mine") == "mine"
    assert sentences.soon(NOW, ago(80_000)) == "2026-11-23 12:00"
