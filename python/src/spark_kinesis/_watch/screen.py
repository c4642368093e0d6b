"""A snapshot on a terminal, in a notebook and as a page of HTML: one screen, drawn by rich."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from spark_kinesis._offsets import short_id
from spark_kinesis._times import time_text

from . import sentences
from .snapshot import Outlook

if TYPE_CHECKING:
    from .snapshot import Snapshot

_COLOURS = {
    Outlook.CAUGHT_UP: "green",
    Outlook.CATCHES_UP: "green",
    Outlook.KEEPS_DISTANCE: "yellow",
    Outlook.LOSES_DATA: "bold red",
    Outlook.UNKNOWN: "dim",
}
_OTHER_LINES = 9
_LEAST_ROWS = 5
_WIDTH = 120
# A page, and a part of a notebook. One that is not trusted loses colours, and nothing else.
_HTML = '<meta charset="utf-8"><pre style="line-height:normal">{code}</pre>'


def screen(snapshot: Snapshot, height: int | None = None) -> RenderableType:
    """The whole snapshot. Shards that do not fit into this height are counted. Default: all."""
    room = None if height is None else max(_LEAST_ROWS, height - _OTHER_LINES)
    title = Text.assemble(
        (snapshot.query, "bold"),
        (f"  {time_text(snapshot.at)}", "dim"),
        f"  {snapshot.status}" if snapshot.status else "",
    )
    outlook, *others = sentences.sentences(snapshot)
    parts: list[RenderableType] = [
        title,
        Text(outlook, style=_COLOURS[snapshot.forecast.outlook]),
        *map(Text, others),
        *(Text(it, style="yellow") for it in snapshot.notes),
        Text(),
        _table(snapshot, room),
    ]
    hidden = 0 if room is None else len(snapshot.shards) - room
    if hidden > 0:
        parts.append(Text(f"and {hidden:,} more shards with a smaller lag", style="dim"))
    return Group(*parts)


def _table(snapshot: Snapshot, room: int | None) -> Table:
    table = Table(box=None, header_style="dim", padding=(0, 1), pad_edge=False)
    table.add_column("shard")
    table.add_column("lag", justify="right")
    table.add_column("speed", justify="right")
    table.add_column("forecast")
    has_several = len({it.stream for it in snapshot.shards}) > 1
    for it in snapshot.shards[:room]:
        waits = f"waits for {', '.join(map(short_id, it.waits_for))}"
        outlook = waits if it.waits_for else sentences.outlook(it.forecast, snapshot.at)
        table.add_row(
            Text(f"{it.stream}/{short_id(it.shard)}" if has_several else short_id(it.shard)),
            sentences.duration(it.lag),
            sentences.UNKNOWN if it.speed is None else f"{it.speed:.2f}x",
            Text(outlook, style=_COLOURS[it.forecast.outlook]),
        )
    return table


def html(snapshot: Snapshot, height: int | None = None) -> str:
    """The same as HTML, which loads nothing from elsewhere."""
    console = Console(record=True, file=io.StringIO(), width=_WIDTH, force_jupyter=False)
    console.print(screen(snapshot, height))
    return console.export_html(inline_styles=True, code_format=_HTML)
