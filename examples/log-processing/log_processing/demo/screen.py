"""Prints what happens, with the seconds since the start."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .batches import Batches

_PERIOD_SECONDS = 2.0


class Screen:
    """Prints lines to standard output."""

    def __init__(self) -> None:
        """Start the clock."""
        self._begun = time.monotonic()
        self._due = 0.0

    def log(self, event: str) -> None:
        """Print an event."""
        print(f"{time.monotonic() - self._begun:6.1f} s  {event}", flush=True)

    def show(self, records_put: int, batches: Batches) -> None:
        """Print the current figures, every two seconds."""
        if time.monotonic() < self._due:
            return
        self._due = time.monotonic() + _PERIOD_SECONDS
        figures = f"records {records_put}, processed {batches.records}: stored {batches.events}"
        figures += f", errors {batches.errors}, bad {batches.bad}"
        latest = batches.latest
        if latest is not None and latest.latency is not None:
            latency = latest.latency
            figures += f"; latest batch p50 {latency.p50} ms, p99 {latency.p99} ms"
        self.log(f"  {figures}")
