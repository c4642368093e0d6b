"""A snapshot on a terminal, by rich."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from spark_kinesis._times import time_text

from . import sentences
from .forecast import Outlook

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .snapshot import Snapshot
    from .tree import Node

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
    forks = sentences.forks(snapshot)
    below = sum(min(_MOST_TREE_ROWS, len(it)) + 2 for it in forks.values())
    room = None if height is None else max(_LEAST_ROWS, height - _OTHER_LINES - below)
    parts = [*_head(snapshot), Text(), *_shards(snapshot, room), *_trees(forks), Text()]
    return Group(*parts, Text(sentences.cost(snapshot), style="dim"))


def _head(snapshot: Snapshot) -> list[RenderableType]:
    where = f"{snapshot.place}  {time_text(snapshot.at)}"
    title = Text.assemble((snapshot.query or "query", "bold"), "  ", (where, "dim"))
    if snapshot.status:
        title.append(f"  {snapshot.status}")
    forecast = snapshot.forecast
    return [
        title,
        Text(sentences.outlook(forecast, snapshot.at), style=COLOURS[forecast.outlook]),
        *(Text(it) for it in sentences.details(snapshot)),
        *(Text(it, style="yellow") for it in snapshot.notes),
    ]


def _shards(snapshot: Snapshot, room: int | None) -> list[RenderableType]:
    table = Table(box=None, header_style="dim", padding=(0, 1), pad_edge=False)
    first, *figures, last = sentences.HEAD
    table.add_column(first)
    for name in figures:
        table.add_column(name, justify="right")
    table.add_column(last)
    rows = sentences.rows(snapshot, room)
    for view, (*cells, outlook) in zip(snapshot.shards[:room], rows, strict=True):
        table.add_row(*map(Text, cells), Text(outlook, style=COLOURS[view.forecast.outlook]))
    hidden = sentences.hidden(snapshot, room)
    return [table, Text(hidden, style="dim")] if hidden else [table]


def _trees(forks: Mapping[str, Sequence[Node]]) -> list[RenderableType]:
    lines: list[RenderableType] = []
    for stream, nodes in forks.items():
        lines += [Text(), Text(f"Splits and merges of {stream}", style="dim")]
        lines += [Text(sentences.branch(it)) for it in nodes[:_MOST_TREE_ROWS]]
        if len(nodes) > _MOST_TREE_ROWS:
            lines.append(Text(f"and {len(nodes) - _MOST_TREE_ROWS:,} more shards", style="dim"))
    return lines
