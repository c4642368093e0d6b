"""What a snapshot says: the sentences and the words that all renderings share."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

from spark_kinesis._offsets import short_id
from spark_kinesis._times import duration_text, time_text

from .forecast import Forecast, Outlook
from .tree import Node, State

if TYPE_CHECKING:
    from .snapshot import Counters, MicroBatch, ShardView, Snapshot, Totals

HEAD = ("shard", "lag", "unread", "in", "out", "speed", "forecast (UTC)")
UNKNOWN = "?"
_TENTHS_BELOW = 10
_THOUSAND = 1000
_HALF_DAY = timedelta(hours=12)


def line(found: Snapshot) -> str:
    """A snapshot in one line."""
    number = f"batch {found.batch.number}" if found.batch else "no batch"
    at = time_text(found.at)
    return f"{at}  {number}  {totals(found.totals)}.  {outlook(found.forecast, found.at)}"


def details(found: Snapshot) -> list[str]:
    """The totals, the latest micro-batch, and what only the query knows, in a sentence each."""
    lines = [f"{totals(found.totals)}.", batch(found.batch)]
    if found.batch is not None and found.batch.phases:
        longest_first = sorted(found.batch.phases.items(), key=lambda it: (-it[1], it[0]))
        phases = ", ".join(f"{name} {millis:,} ms" for name, millis in longest_first)
        lines.append(f"Phases: {phases}.")
    if found.counters is not None:
        lines.append(counters(found.counters))
    return lines


def rows(found: Snapshot, most: int | None = None) -> Iterator[tuple[str, ...]]:
    """The cells of each shard below ``HEAD``, those with the largest lag first. Default: all."""
    for it in found.shards[:most]:
        yield (
            f"{it.stream}/{short_id(it.shard)}" if len(found.trees) > 1 else short_id(it.shard),
            duration(it.lag),
            count(it.records, is_counted=it.is_counted),
            per_second(it.arriving),
            per_second(it.processed),
            UNKNOWN if it.speed is None else f"{it.speed:.2f}x",
            row_outlook(it, found.at),
        )


def hidden(found: Snapshot, most: int | None) -> str | None:
    """How many shards do not fit. ``None`` if all do."""
    left = 0 if most is None else len(found.shards) - most
    return f"and {left:,} more shards with a smaller lag" if left > 0 else None


def forks(found: Snapshot) -> dict[str, tuple[Node, ...]]:
    """The trees of the streams in which there was a split or a merge."""
    return {it: nodes for it, nodes in found.trees.items() if any(node.parents for node in nodes)}


def outlook(found: Forecast, now: datetime) -> str:
    """A forecast in one sentence."""
    at = found.at or now
    when = f"at {time_text(at)}, in {duration(at - now)}"
    falls = "The query falls behind: unread records expire"
    text = {
        Outlook.CAUGHT_UP: "The query has caught up.",
        Outlook.UNKNOWN: "There is no forecast yet: the speed or the lag is unknown.",
        Outlook.KEEPS_DISTANCE: "The lag stays the same.",
        Outlook.FALLS_BEHIND: "The query falls behind. The retention period is unknown.",
        Outlook.CATCHES_UP: f"The query catches up {when}.",
        Outlook.LOSES_DATA: f"{falls} {when}." if at > now else "Unread records expire now.",
    }[found.outlook]
    return f"{text} Shard {short_id(found.shard)} decides." if found.shard else text


def batch(found: MicroBatch | None) -> str:
    """The latest micro-batch in one sentence."""
    if found is None:
        return "No micro-batch was planned yet."
    read = f", {found.rows:,} rows" if found.rows is not None else ""
    usual = f" A micro-batch begins every {duration(found.period)}." if found.period else ""
    if found.is_running:
        return f"Micro-batch {found.number} has been running for {duration(found.age)}.{usual}"
    took = f" and took {duration(found.took)}" if found.took is not None else ""
    ago = f" It began {duration(found.age)} ago{took}." if found.age is not None else ""
    late = " The next one is overdue: the query is stopped or stuck." if found.is_overdue else ""
    return f"Micro-batch {found.number} is completed{read}.{ago}{usual}{late}"


def totals(found: Totals) -> str:
    """All shards together in one sentence."""
    unread = count(found.records, is_counted=found.is_counted)
    return (
        f"Lag {duration(found.lag)}, {unread} records unread; "
        f"in {per_second(found.arriving)}, out {per_second(found.processed)}; "
        f"{found.reading} shards read, {found.waiting} waiting"
    )


def cost(found: Snapshot) -> str:
    """What the view uses, in one sentence."""
    if not found.cost.calls:
        return "This view reads nothing from the stream."
    return (
        f"In the last minute, this view used at most {share(found.cost.calls)} of the read "
        f"calls and {share(found.cost.bytes)} of the read bytes of a shard."
    )


def counters(found: Counters) -> str:
    """The counters of a source in one sentence."""
    return (
        f"In this run: {found.fetched_records:,} records fetched, "
        f"{found.throttled_requests:,} requests throttled, {found.retried_requests:,} retried, "
        f"{found.reread_ranges:,} ranges read again, {found.lost_ranges:,} lost. "
        f"Read ahead: {size(found.buffered_bytes)} in memory, "
        f"{size(found.spilled_bytes)} on disk."
    )


def row_outlook(view: ShardView, now: datetime) -> str:
    """The forecast of a shard in a few words."""
    if view.state is State.WAITING:
        return f"waits for {', '.join(map(short_id, view.waits_for))}"
    found = view.forecast
    at = soon(found.at or now, now)
    refused = f" ({view.refused:,} reads refused)" if view.refused else ""
    text = {
        Outlook.CAUGHT_UP: "caught up",
        Outlook.UNKNOWN: "no forecast yet",
        Outlook.KEEPS_DISTANCE: "keeps its distance",
        Outlook.CATCHES_UP: f"catches up at {at}",
        Outlook.FALLS_BEHIND: "falls behind",
        Outlook.LOSES_DATA: f"expires at {at}",
    }[found.outlook]
    return text + refused


def branch(node: Node) -> str:
    """A shard of the tree in one line."""
    name = short_id(node.shard)
    merged = f" = {' + '.join(map(short_id, node.parents))}" if len(node.parents) > 1 else ""
    says = {
        State.READING: "is read",
        State.WAITING: "waits",
        State.LATER: "comes later",
        State.DONE: "is done",
        State.UNKNOWN: "is not in the checkpoint",
    }[node.state]
    kind = {True: "open, ", False: "closed, ", None: ""}[node.is_open]
    return f"{'   ' * node.depth}{'└─ ' if node.depth else ''}{name}{merged}  {kind}{says}"


def duration(value: timedelta | None) -> str:
    """A duration in its two largest units, such as ``2 h 5 min``. Below a second in ms."""
    if value is None:
        return UNKNOWN
    millis = round(value.total_seconds() * _THOUSAND)
    return f"{millis} ms" if 0 < millis < _THOUSAND else duration_text(value)


def count(value: int | None, *, is_counted: bool = True) -> str:
    """A number of records. An estimate begins with ``~``."""
    if value is None:
        return UNKNOWN
    return f"{value:,}" if is_counted else f"~{value:,}"


def per_second(value: float | None) -> str:
    """A rate."""
    if value is None:
        return UNKNOWN
    return f"{value:.1f}/s" if 0 < value < _TENTHS_BELOW else f"{value:,.0f}/s"


def soon(value: datetime, now: datetime) -> str:
    """A time in UTC: without the date if it is within 12 hours, otherwise without the seconds."""
    form = "%H:%M:%S" if abs(value - now) < _HALF_DAY else "%Y-%m-%d %H:%M"
    return value.astimezone(timezone.utc).strftime(form)


def share(value: float) -> str:
    """A part of a quota in percent."""
    return f"{value:.1%}".replace("%", " %")


def size(value: int) -> str:
    """Bytes, such as ``12.5 MB``."""
    amount, units = float(value), ["B", "kB", "MB", "GB"]
    while amount >= _THOUSAND and len(units) > 1:
        amount, units = amount / _THOUSAND, units[1:]
    return f"{amount:.1f} {units[0]}" if units[0] != "B" else f"{value} B"
