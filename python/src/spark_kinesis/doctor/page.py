"""The findings on a terminal: remedies first, then a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape
from rich.padding import Padding
from rich.table import Table

from .finding import Finding, State

if TYPE_CHECKING:
    from rich.console import Console

    from .report import Report

_STYLES = {State.OK: "green", State.PROBLEM: "bold red", State.UNKNOWN: "yellow"}


def show(report: Report, console: Console) -> None:
    """Print the findings. Without a terminal, a finding is one line."""
    if not console.is_terminal:
        console.print(repr(report), markup=False)
        return
    for it in report.problems:
        console.print(f"{_mark(it)} {escape(it.seen)}")
        console.print(Padding(f"[bold]{escape(it.remedy)}[/bold]", (0, 0, 1, 2)))
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("", "Section", "Subject", "Seen"):
        table.add_column(name, overflow="fold")
    for it in report:
        table.add_row(_mark(it), escape(it.section), escape(it.subject), _seen(it))
    console.print(table)
    console.print(f"\n{report.verdict}")


def _mark(it: Finding) -> str:
    style = _STYLES[it.state]
    return f"[{style}]{it.state.mark}[/{style}]"


def _seen(it: Finding) -> str:
    remedy = it.remedy if it.state is State.UNKNOWN else ""
    return escape("\n".join([f"{it.seen}. {remedy}" if remedy else it.seen, *it.details]))
