"""A snapshot on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from spark_kinesis.live.model.forecast import Outlook
from spark_kinesis.tools.facts.streams import short_id

from . import sentences, words

if TYPE_CHECKING:
    from spark_kinesis.live.model.snapshot import ShardView, Snapshot
    from spark_kinesis.live.model.tree import Node

COLOURS = {
    Outlook.CAUGHT_UP: "green",
    Outlook.CATCHES_UP: "green",
    Outlook.KEEPS_DISTANCE: "yellow",
    Outlook.FALLS_BEHIND: "red",
    Outlook.LOSES_DATA: "bold red",
    Outlook.UNKNOWN: "dim",
}
_OTHER_LINES = 12
_LEAST_ROWS = 5
_MOST_TREE_ROWS = 15


def screen(snapshot: Snapshot, height: int | None = None) -> RenderableType:
    """The whole snapshot.

    Args:
        snapshot: what to show.
        height: lines of the terminal. Shards that do not fit are counted. Default: show all.
    """
    trees = [it for it in map(_tree, snapshot.trees.items()) if it is not None]
    room = None if height is None else max(_LEAST_ROWS, height - _OTHER_LINES - _rows(snapshot))
    parts: list[RenderableType] = [
        *_head(snapshot),
        Text(),
        _shards(snapshot.shards, room, snapshot.at),
        *trees,
        Text(),
        Text(sentences.cost(snapshot), style="dim"),
    ]
    return Group(*parts)


def _head(snapshot: Snapshot) -> list[RenderableType]:
    title = Text.from_markup(f"[bold]{escape(snapshot.query or 'query')}[/]  ")
    title.append(f"{snapshot.place}  {words.moment(snapshot.at)}", style="dim")
    if snapshot.status:
        title.append(f"  {snapshot.status}")
    forecast = snapshot.forecast
    lines: list[RenderableType] = [
        title,
        Text(sentences.outlook(forecast, snapshot.at), style=COLOURS[forecast.outlook]),
        Text(f"{sentences.totals(snapshot.totals)}."),
        Text(sentences.batch(snapshot.batch)),
    ]
    if snapshot.batch is not None and snapshot.batch.phases:
        lines.append(Text(f"Phases: {sentences.phases(snapshot.batch.phases)}."))
    if snapshot.counters is not None:
        lines.append(Text(sentences.counters(snapshot.counters)))
    return lines + [Text(it, style="yellow") for it in snapshot.notes]


def _shards(shards: Sequence[ShardView], room: int | None, now: datetime) -> RenderableType:
    table = Table(box=None, header_style="dim", padding=(0, 1), pad_edge=False)
    several = len({it.stream for it in shards}) > 1
    table.add_column("shard")
    for name in ("lag", "unread", "in", "out", "speed"):
        table.add_column(name, justify="right")
    table.add_column("forecast (UTC)")
    for it in shards[:room]:
        name = f"{it.stream}/{short_id(it.shard)}" if several else short_id(it.shard)
        table.add_row(
            name,
            words.duration(it.lag),
            words.count(it.records, is_counted=it.is_counted),
            words.per_second(it.arriving),
            words.per_second(it.processed),
            words.speed(it.speed),
            Text(sentences.row_outlook(it, now), style=COLOURS[it.forecast.outlook]),
        )
    hidden = len(shards) - len(shards[:room])
    if not hidden:
        return table
    return Group(table, Text(f"and {hidden:,} more shards with a smaller lag", style="dim"))


def _rows(snapshot: Snapshot) -> int:
    return sum(min(_MOST_TREE_ROWS, len(it)) + 2 for it in snapshot.trees.values() if _bent(it))


def _bent(nodes: Sequence[Node]) -> bool:
    """Whether there was a split or a merge."""
    return any(it.parents for it in nodes)


def _tree(found: tuple[str, Sequence[Node]]) -> RenderableType | None:
    stream, nodes = found
    if not _bent(nodes):
        return None
    lines: list[RenderableType] = [Text(), Text(f"Splits and merges of {stream}", style="dim")]
    lines += [Text(sentences.branch(it)) for it in nodes[:_MOST_TREE_ROWS]]
    if len(nodes) > _MOST_TREE_ROWS:
        lines.append(Text(f"and {len(nodes) - _MOST_TREE_ROWS:,} more shards", style="dim"))
    return Group(*lines)
