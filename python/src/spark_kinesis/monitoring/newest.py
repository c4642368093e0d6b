"""The newest numbers of each run, for exporters from which others read when they want."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .samples import Sample


class NewestSamples:
    """Keeps the newest numbers of each run. Spark writes them, and other threads read them."""

    def __init__(self) -> None:
        """Has no runs."""
        self._lock = threading.Lock()
        self._runs: dict[str, Sequence[Sample]] = {}

    def update(self, run: str, samples: Sequence[Sample], time_ms: int) -> None:  # noqa: ARG002
        """Replace the numbers of a run."""
        with self._lock:
            self._runs[run] = samples

    def remove(self, run: str) -> None:
        """Forget the numbers of a run."""
        with self._lock:
            self._runs.pop(run, None)

    def samples(self) -> list[Sample]:
        """The numbers of all runs."""
        with self._lock:
            return [sample for each in self._runs.values() for sample in each]
