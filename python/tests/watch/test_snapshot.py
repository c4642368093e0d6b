"""What several shards mean together, and what people read about them."""

from __future__ import annotations

import io
from dataclasses import replace
from datetime import timedelta

import pytest
from rich.console import Console

from spark_kinesis._offsets import Progress, ShardOffset, short_id
from spark_kinesis._watch import sentences
from spark_kinesis._watch.screen import html, screen
from spark_kinesis._watch.snapshot import Outlook, Snapshot, Step, snapshot

from .given import ARN, BATCH, DAY, NOW, after, ago, key, name, seen, steps

BEHIND = {0: 3600.0, 1: 600.0}


def text(found: Snapshot, height: int | None = None) -> list[str]:
    """The lines that a terminal shows."""
    console = Console(record=True, width=120, file=io.StringIO())
    console.print(screen(found, height))
    return [it.rstrip() for it in console.export_text().splitlines()]


def stopped(late: float) -> tuple[Step, ...]:
    """The last micro-batch was an hour ago."""
    return tuple(replace(it, at=it.at - timedelta(hours=1)) for it in steps(1.0, 0, 1, late=late))


def test_a_query_that_catches_up() -> None:
    assert text(seen(BEHIND, steps(3.0, 0, 1, late=600))) == [
        "query-1  2026-11-23 12:00:00 UTC",
        "The query catches up at 2026-11-23 12:30:00 UTC, in 30 min. Shard 0 decides.",
        "Lag 1 h; 2 shards read, 0 waiting.",
        "Micro-batch 12 has been running for 7 s.",
        "",
        "shard     lag  speed  forecast",
        "0         1 h  3.00x  catches up at 2026-11-23 12:30:00 UTC, in 30 min",
        "1      10 min  3.00x  catches up at 2026-11-23 12:05:00 UTC, in 5 min",
    ]


def test_a_query_that_loses_data() -> None:
    slow = seen(BEHIND, steps(0.5, 0, 1, late=600))
    assert slow.loses_data
    assert text(slow)[1] == (
        "The query falls behind: unread records expire at 2026-11-25 10:00:00 UTC, in 1 d 22 h. "
        "Shard 0 decides."
    )
    late = seen({0: 90_000}, steps(1.0, 0))
    assert late.loses_data
    assert text(late)[1] == "The query loses data: unread records expire now. Shard 0 decides."
    unknown = seen({0: 3600}, steps(0.5, 0, late=3600), retention=None)
    assert unknown.loses_data
    assert text(unknown)[1] == "The query falls behind. Shard 0 decides."


def test_a_query_that_stopped_loses_data() -> None:
    batch = replace(BATCH, is_running=False, planned=ago(3600))
    lines = text(seen(BEHIND, stopped(600), batch=batch))
    assert lines[1].startswith("The query falls behind: unread records expire at 2026-11-24 11:")
    assert lines[3] == (
        "Micro-batch 12, which began 1 h ago, is completed. The next one is overdue: the query is "
        "stopped or stuck."
    )


@pytest.mark.parametrize(
    ("status", "is_running", "late", "expected"),
    [
        (None, False, 600, True),
        (None, False, 0, False),  # nothing to do
        (None, True, 600, False),  # busy
        ("Waiting for next trigger", False, 600, False),  # Spark says that it is fine
    ],
)
def test_a_micro_batch_is_overdue_if_records_wait_and_nobody_explains_it(
    status: str | None, is_running: bool, late: float, expected: bool
) -> None:
    batch = replace(BATCH, is_running=is_running)
    found = seen({0: late}, stopped(late), batch=batch, status=status)
    assert found.batch is not None
    assert found.batch.is_overdue is expected


def test_a_shard_waits_until_its_parents_are_finished() -> None:
    waiting = ShardOffset(progress=Progress.TRIM_HORIZON, waits_for=(name(1), name(2)))
    finished = ShardOffset(progress=Progress.FINISHED)
    one = seen({1: 0, 2: 5, 3: 5}, positions={1: finished, 3: waiting})
    assert [(it.shard, it.waits_for) for it in one.shards] == [
        (name(2), ()),
        (name(3), (name(2),)),
    ]
    assert "3      5 s      ?  waits for 2" in text(one)
    both = seen({1: 0, 2: 0, 3: 5}, positions={1: finished, 2: finished, 3: waiting})
    assert [(it.shard, it.waits_for) for it in both.shards] == [(name(3), ())]
    ended = seen({1: 0}, positions={1: finished})
    assert (ended.shards, ended.forecast.outlook) == ((), Outlook.UNKNOWN)


def test_notes_and_names_are_text() -> None:
    hostile = "<b>[red]a[/red]</b>"
    found = seen({0: None}, query=hostile, status=hostile, notes=(hostile,), batch=None)
    lines = text(found)
    assert lines[0] == f"{hostile}  2026-11-23 12:00:00 UTC  {hostile}"
    assert lines[3:5] == ["No micro-batch was planned yet.", hostile]
    assert "0        ?      ?  has no forecast yet" in lines
    assert "<b>" not in html(found)


def test_a_page_has_all_shards_and_loads_nothing() -> None:
    page = html(seen(dict.fromkeys(range(1000), 60.0), steps(1.0, *range(1000))))
    assert page.count("has caught up") + page.count("keeps its distance") == 1001
    assert not any(it in page for it in ("src=", "href=", "url(", "<script"))


def test_a_large_stream_fits_on_the_terminal() -> None:
    lines = text(seen({number: 60.0 + number for number in range(1000)}), height=24)
    assert len(lines) <= 24
    assert lines[-1] == "and 985 more shards with a smaller lag"
    assert lines[6].startswith("999 ")


def test_a_snapshot_is_one_line_without_a_terminal() -> None:
    assert sentences.line(seen(BEHIND, steps(3.0, 0, 1, late=600))) == (
        "2026-11-23 12:00:00 UTC  The query catches up at 2026-11-23 12:30:00 UTC, in 30 min. "
        "Shard 0 decides. Lag 1 h; 2 shards read, 0 waiting. "
        "Micro-batch 12 has been running for 7 s."
    )


@pytest.mark.parametrize(
    ("other", "names"),
    [
        (ARN.replace("orders", "refunds"), ["orders", "refunds"]),
        (
            ARN.replace("123456789012", "999999999999"),
            [ARN, ARN.replace("123456789012", "999999999999")],
        ),
    ],
)
def test_two_streams_are_told_apart(other: str, names: list[str]) -> None:
    lags = {key(0): timedelta(seconds=600), (other, name(0)): timedelta(seconds=60)}
    found = snapshot(
        at=NOW,
        query="query-1",
        batch=None,
        steps=(),
        positions=dict.fromkeys(lags, after(5)),
        lags=lags,
        retention={ARN: timedelta(minutes=5), other: DAY},
    )
    assert [it.stream for it in found.shards] == names
    assert f"{names[0]}/0" in text(found)[6]
    assert [it.forecast.outlook for it in found.shards] == [Outlook.LOSES_DATA, Outlook.UNKNOWN]


def test_only_shard_names_of_the_service_are_shortened() -> None:
    assert short_id("shardId-000000000012") == "12"
    assert short_id("shardId-12") == "shardId-12"
    assert short_id("mine") == "mine"
