"""What a snapshot says, in sentences that all renderings share."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from spark_kinesis.live.model.forecast import Forecast, Outlook
from spark_kinesis.live.model.tree import Node, State
from spark_kinesis.tools.facts.streams import short_id

from . import words

if TYPE_CHECKING:
    from spark_kinesis.live.model.facts import Counters
    from spark_kinesis.live.model.snapshot import BatchView, ShardView, Snapshot, Totals


def outlook(found: Forecast, now: datetime) -> str:
    """A forecast in one sentence."""
    at = found.at or now
    when = f"at {words.moment(at)}, in {words.duration(at - now)}"
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


def batch(found: BatchView | None) -> str:
    """The latest micro-batch in one sentence."""
    if found is None:
        return "No micro-batch was planned yet."
    rows = f", {found.rows:,} rows" if found.rows is not None else ""
    usual = f" A micro-batch begins every {words.duration(found.period)}." if found.period else ""
    if found.is_running:
        return (
            f"Micro-batch {found.number} has been running for {words.duration(found.age)}.{usual}"
        )
    took = f" and took {words.duration(found.took)}" if found.took is not None else ""
    ago = f" It began {words.duration(found.age)} ago{took}." if found.age is not None else ""
    late = " The next one is overdue: the query is stopped or stuck." if found.is_overdue else ""
    return f"Micro-batch {found.number} is completed{rows}.{ago}{usual}{late}"


def totals(found: Totals) -> str:
    """All shards together in one sentence."""
    unread = words.count(found.records, is_counted=found.is_counted)
    return (
        f"Lag {words.duration(found.lag)}, {unread} records unread; "
        f"in {words.per_second(found.arriving)}, out {words.per_second(found.processed)}; "
        f"{found.reading} shards read, {found.waiting} waiting"
    )


def cost(found: Snapshot) -> str:
    """What the view uses, in one sentence."""
    if not found.cost.calls:
        return "This view reads nothing from the stream."
    return (
        f"In the last minute, this view used at most {words.share(found.cost.calls)} of the read "
        f"calls and {words.share(found.cost.bytes)} of the read bytes of a shard."
    )


def line(found: Snapshot) -> str:
    """A snapshot in one line."""
    number = f"batch {found.batch.number}" if found.batch else "no batch"
    at = words.moment(found.at)
    return f"{at}  {number}  {totals(found.totals)}.  {outlook(found.forecast, found.at)}"


def phases(found: Mapping[str, int]) -> str:
    """Spark's phases of a micro-batch, the longest first."""
    ordered = sorted(found.items(), key=lambda it: (-it[1], it[0]))
    return ", ".join(f"{name} {millis:,} ms" for name, millis in ordered)


def counters(found: Counters) -> str:
    """The counters of a source in one sentence."""
    return (
        f"In this run: {found.fetched_records:,} records fetched, "
        f"{found.throttled_requests:,} requests throttled, {found.retried_requests:,} retried, "
        f"{found.reread_ranges:,} ranges read again, {found.lost_ranges:,} lost. "
        f"Read ahead: {words.size(found.buffered_bytes)} in memory, "
        f"{words.size(found.spilled_bytes)} on disk."
    )


def row_outlook(view: ShardView, now: datetime) -> str:
    """The forecast of a shard in a few words."""
    if view.state is State.WAITING:
        return f"waits for {', '.join(map(short_id, view.waits_for))}"
    found = view.forecast
    at = words.soon(found.at or now, now)
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
