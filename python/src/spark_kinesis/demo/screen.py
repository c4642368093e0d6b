"""The display: a live table on a terminal, plain lines elsewhere."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol

from rich.console import Console, Group
from rich.live import Live
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from .shards import Shard, short

if TYPE_CHECKING:
    from .snapshot import Snapshot

WIDTH = 78
HIGHEST_RATE = 2000  # of a bar, in lines per second: four times the rate of the log
LONGEST_BAR, LINES_PER_BLOCK, MANY_LINES = 16, 50, 500
PLAIN_PERIOD_SECONDS = 2.0
BLOCKS = " ▁▂▃▄▅▆▇█"
COLOURS = {200: "green", 301: "cyan", 404: "yellow", 500: "red"}


class Screen(Protocol):
    """A display of the demo."""

    def tell(self, seconds: float, event: str) -> None:
        """Show an event."""

    def show(self, snapshot: Snapshot) -> None:
        """Show the current figures."""

    def close(self) -> None:
        """End the display."""


def open_screen() -> Screen:
    """The display for this output: a live table on a terminal, lines elsewhere."""
    console = Console(highlight=False)
    return LiveScreen(console) if console.is_terminal else PlainScreen()


class LiveScreen:
    """Prints events above a table that changes in place."""

    def __init__(self, console: Console) -> None:
        """Start the display."""
        self._console = console
        self._live = Live(console=console, auto_refresh=False)
        self._live.start()

    def tell(self, seconds: float, event: str) -> None:
        """Show an event."""
        self._console.print(f"[dim]{seconds:5.1f} s[/]  [bold cyan]{escape(event)}[/]")

    def show(self, snapshot: Snapshot) -> None:
        """Show the current figures."""
        self._live.update(panel(snapshot), refresh=True)

    def close(self) -> None:
        """End the display, and leave the last table visible."""
        self._live.stop()


class PlainScreen:
    """Prints a line for each event, and the figures every two seconds."""

    def __init__(self) -> None:
        """Shows nothing yet."""
        self._due = 0.0

    def tell(self, seconds: float, event: str) -> None:
        """Show an event."""
        print(f"{seconds:5.1f} s  {event}", flush=True)

    def show(self, snapshot: Snapshot) -> None:
        """Show the current figures if the next line is due."""
        if snapshot.seconds >= self._due:
            self._due = snapshot.seconds + PLAIN_PERIOD_SECONDS
            print(f"{snapshot.seconds:5.1f} s  {sentence(snapshot)}", flush=True)

    def close(self) -> None:
        """Does nothing."""


def sentence(snapshot: Snapshot) -> str:
    """A snapshot in one line."""
    totals = snapshot.totals
    lags = " ".join(f"{s.name}:{snapshot.lag(s)}" for s in snapshot.shards if is_alive(snapshot, s))
    batch = snapshot.batch
    last = f"  batch {batch.id} {batch.milliseconds} ms" if batch else ""
    return (
        f"{snapshot.query:14} written {totals.written:6}  read {totals.read:6}"
        f"  lag by shard {lags}{last}"
    )


def panel(snapshot: Snapshot) -> Panel:
    """A snapshot as a panel."""
    colour = "green" if snapshot.query.endswith("running") else "yellow"
    title = f"access-log > [bold {colour}]{snapshot.query}[/] > parsed, status-counts"
    parts = Group(shard_table(snapshot), Text(), figures(snapshot), Text(), statuses(snapshot))
    return Panel(parts, title=title, subtitle=f"{snapshot.seconds:.0f} s", width=WIDTH)


def is_alive(snapshot: Snapshot, shard: Shard) -> bool:
    """Whether a shard is open, or has lines that have not arrived."""
    return shard.is_open or snapshot.lag(shard) > 0


def shard_table(snapshot: Snapshot) -> Table:
    """A table with a row for each shard: lines written, read, and missing."""
    table = Table(box=None, expand=True, header_style="dim", padding=(0, 1))
    table.add_column("shard")
    table.add_column("", width=19)
    table.add_column("written", justify="right", width=7)
    table.add_column("read", justify="right", width=7)
    table.add_column("lag", justify="right", width=6)
    table.add_column("", width=LONGEST_BAR)
    for shard in snapshot.shards:
        lag = snapshot.lag(shard)
        table.add_row(
            shard.name,
            state(shard),
            f"{snapshot.totals.written_by_shard.get(shard.id, 0):,}",
            f"{snapshot.read(shard):,}",
            f"{lag:,}",
            bar(lag),
            style="" if is_alive(snapshot, shard) else "dim",
        )
    return table


def bar(lag: int) -> Text:
    """A lag as a bar."""
    blocks = "█" * min(LONGEST_BAR, lag // LINES_PER_BLOCK)
    return Text(blocks, style="green" if lag < MANY_LINES else "yellow")


def state(shard: Shard) -> str:
    """Whether a shard is open, and its parents."""
    origin = f" (from {' and '.join(map(short, shard.parents))})" if shard.parents else ""
    return ("[green]open[/]" if shard.is_open else "closed") + origin


def figures(snapshot: Snapshot) -> Group:
    """The lines written and read, in total and in the latest seconds."""
    table = Table.grid(padding=(0, 2))
    totals, now = snapshot.totals, snapshot.rate
    for at, (name, total) in enumerate((("written", totals.written), ("read", totals.read))):
        line = sparkline(rate[at] for rate in snapshot.rates)
        table.add_row(f" {name}", f"{total:>7,}", f"{now[at]:>6,}/s", Text(line, style="cyan"))
    batch = snapshot.batch
    last = f"{batch.id}: {batch.rows:,} lines in {batch.milliseconds:,} ms" if batch else "-"
    way = f"latency {totals.seconds * 1000:,.0f} ms (median)" if batch else ""
    return Group(table, f" micro-batch {last:33} {way}")


def sparkline(rates: Iterable[int]) -> str:
    """A bar for each rate. Only a rate of 0 is blank."""
    highest = len(BLOCKS) - 1
    return "".join(BLOCKS[min(highest, -(-rate * highest // HIGHEST_RATE))] for rate in rates)


def statuses(snapshot: Snapshot) -> Text:
    """The number of lines by HTTP status, and their shares."""
    counts = snapshot.totals.by_status
    total = sum(counts.values())
    text = Text(" status  ")
    for status, lines in counts.items():
        text.append(f"{status} ", style=COLOURS.get(status, ""))
        text.append(f"{lines:,} ({lines / total:.0%})   ")
    return text
