"""What a viewer sees: a live table on a terminal, plain lines anywhere else."""

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
HIGHEST_RATE = 2000  # of a bar, in lines a second: four times the log's own
LONGEST_BAR, LINES_PER_BLOCK, MANY_LINES = 16, 50, 500
PLAIN_PERIOD_SECONDS = 2.0
BLOCKS = " ▁▂▃▄▅▆▇█"
COLOURS = {200: "green", 301: "cyan", 404: "yellow", 500: "red"}


class Screen(Protocol):
    """Where the demo is shown."""

    def tell(self, seconds: float, event: str) -> None:
        """Something happened."""

    def show(self, snapshot: Snapshot) -> None:
        """How things are now."""

    def close(self) -> None:
        """Nothing more will be shown."""


def open_screen() -> Screen:
    """The one that fits where the output goes."""
    console = Console(highlight=False)
    return LiveScreen(console) if console.is_terminal else PlainScreen()


class LiveScreen:
    """Events scroll by above a table that changes in place."""

    def __init__(self, console: Console) -> None:
        """Begin to show."""
        self._console = console
        self._live = Live(console=console, auto_refresh=False)
        self._live.start()

    def tell(self, seconds: float, event: str) -> None:
        """Something happened."""
        self._console.print(f"[dim]{seconds:5.1f} s[/]  [bold cyan]{escape(event)}[/]")

    def show(self, snapshot: Snapshot) -> None:
        """How things are now."""
        self._live.update(picture(snapshot), refresh=True)

    def close(self) -> None:
        """Leave the last picture standing."""
        self._live.stop()


class PlainScreen:
    """A line for each event, and one every two seconds."""

    def __init__(self) -> None:
        """Nothing shown yet."""
        self._due = 0.0

    def tell(self, seconds: float, event: str) -> None:
        """Something happened."""
        print(f"{seconds:5.1f} s  {event}", flush=True)

    def show(self, snapshot: Snapshot) -> None:
        """How things are now, if it is time."""
        if snapshot.seconds >= self._due:
            self._due = snapshot.seconds + PLAIN_PERIOD_SECONDS
            print(f"{snapshot.seconds:5.1f} s  {sentence(snapshot)}", flush=True)

    def close(self) -> None:
        """Nothing to tidy."""


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


def picture(snapshot: Snapshot) -> Panel:
    """A snapshot as a panel."""
    colour = "green" if snapshot.query.endswith("running") else "yellow"
    title = f"access-log > [bold {colour}]{snapshot.query}[/] > parsed, status-counts"
    parts = Group(shard_table(snapshot), Text(), figures(snapshot), Text(), statuses(snapshot))
    return Panel(parts, title=title, subtitle=f"{snapshot.seconds:.0f} s", width=WIDTH)


def is_alive(snapshot: Snapshot, shard: Shard) -> bool:
    """Whether a shard still takes lines or holds some that have not arrived."""
    return shard.is_open or snapshot.lag(shard) > 0


def shard_table(snapshot: Snapshot) -> Table:
    """A row for each shard: what it took, what arrived of it."""
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
    """A lag to see at a glance."""
    blocks = "█" * min(LONGEST_BAR, lag // LINES_PER_BLOCK)
    return Text(blocks, style="green" if lag < MANY_LINES else "yellow")


def state(shard: Shard) -> str:
    """Open or closed, and where it came from."""
    origin = f" (from {' and '.join(map(short, shard.parents))})" if shard.parents else ""
    return ("[green]open[/]" if shard.is_open else "closed") + origin


def figures(snapshot: Snapshot) -> Group:
    """Lines written and read, now and over the latest seconds."""
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
    """A bar for each rate; blank only for none."""
    highest = len(BLOCKS) - 1
    return "".join(BLOCKS[min(highest, -(-rate * highest // HIGHEST_RATE))] for rate in rates)


def statuses(snapshot: Snapshot) -> Text:
    """The lines of each HTTP status, and their shares as a bar."""
    counts = snapshot.totals.by_status
    total = sum(counts.values())
    text = Text(" status  ")
    for status, lines in counts.items():
        text.append(f"{status} ", style=COLOURS.get(status, ""))
        text.append(f"{lines:,} ({lines / total:.0%})   ")
    return text
