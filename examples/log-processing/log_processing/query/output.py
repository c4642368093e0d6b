"""Prints events and counts as a table or as JSON lines."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from .stored import StoredEvent

STYLES = {"FATAL": "bold red", "CRITICAL": "bold red", "ERROR": "red", "WARN": "yellow"}
STYLES["WARNING"] = STYLES["WARN"]


def printable(text: str) -> str:
    """A text without control characters, which could change what a terminal shows."""
    return "".join(it if it.isprintable() else ascii(it)[1:-1] for it in text)


def cell(text: str, style: str = "") -> Text:
    """A text of a log event for a table. In a plain string, rich reads ``[red]`` as a colour."""
    return Text(printable(text), style=style)


def print_events(events: Iterable[StoredEvent], *, as_json: bool) -> int:
    """Print events and return their number."""
    return print_lines(map(asdict, events)) if as_json else print_table(events)


def print_lines(rows: Iterable[Mapping[str, Any]]) -> int:
    """Print one JSON line per row, as the rows come, and return their number."""
    number = 0
    for row in rows:
        sys.stdout.write(json.dumps(row) + "\n")
        number += 1
    return number


def print_table(events: Iterable[StoredEvent]) -> int:
    """Print a table of all events and return their number."""
    table = Table("Time (UTC)", "Level", "Message", "Context", box=None, pad_edge=False)
    table.columns[0].no_wrap = table.columns[1].no_wrap = True
    for event in events:
        context = " ".join(f"{name}={value}" for name, value in sorted(event.context.items()))
        style = STYLES.get(event.level.upper(), "")
        level = cell(event.level, style)
        table.add_row(cell(event.timestamp), level, cell(event.message), cell(context, "dim"))
    if table.row_count:
        Console().print(table)
    return table.row_count


def print_counts(rows: Mapping[str, Mapping[str, int]], *, as_json: bool) -> None:
    """Print the counts of each minute: a column per level, or a JSON line per level."""
    if as_json:
        print_lines(
            {"minute": minute, "level": level, "count": number}
            for minute, counts in rows.items()
            for level, number in counts.items()
        )
        return
    levels = sorted({level for counts in rows.values() for level in counts})
    table = Table("Minute (UTC)", box=None, pad_edge=False)
    for level in levels:
        table.add_column(cell(level), justify="right")
    table.add_column("all", justify="right")
    for minute, counts in rows.items():
        numbers = [counts.get(level, 0) for level in levels]
        table.add_row(minute, *[f"{number:,}" for number in [*numbers, sum(numbers)]])
    if rows:
        Console().print(table)
