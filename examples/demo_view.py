"""What the demo shows while it runs."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.live import Live
from rich.panel import Panel
from rich.table import Table

if TYPE_CHECKING:
    from demo_tally import Tally


class View:
    """A live table of shards and statuses under a running log of events."""

    def __init__(self, tally: Tally) -> None:
        """Start to show."""
        self._tally = tally
        self._begun = time.monotonic()
        self._console = Console()
        self._live = Live(self._picture(), console=self._console, refresh_per_second=5)
        self._live.start()

    def happened(self, event: str) -> None:
        """Note an event, above the table."""
        self._console.print(f"[dim]{self._elapsed():5.1f} s[/dim]  [bold cyan]{event}[/bold cyan]")

    def watch(self, seconds: float) -> None:
        """Keep the picture fresh for a while."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self._live.update(self._picture())
            time.sleep(min(0.2, left))

    def close(self) -> None:
        """Show the last picture and stop."""
        self._live.update(self._picture())
        self._live.stop()

    def _elapsed(self) -> float:
        return time.monotonic() - self._begun

    def _picture(self) -> Panel:
        written, arrived = self._tally.totals()
        shards = Table("shard", "lines", "last line took", expand=True)
        for shard, lines, delay in self._tally.shards():
            shards.add_row(shard, f"{lines:,}", f"{delay * 1000:,.0f} ms")
        statuses = "   ".join(f"{name}: {count:,}" for name, count in self._tally.statuses())
        title = f"{written:,} lines written, {arrived:,} arrived in the second stream"
        return Panel(Group(shards, f"per status   {statuses}"), title=title, width=76)
