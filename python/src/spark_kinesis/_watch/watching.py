"""``spark_kinesis.watch``: a live view of a query of this session.

It appears below the cell of a notebook, on a terminal, or as lines.
"""

from __future__ import annotations

import sys
import threading
from contextvars import copy_context
from datetime import timedelta
from importlib.util import find_spec
from typing import IO, TYPE_CHECKING, Any

from spark_kinesis._errors import MissingPackageError

from . import sentences
from .inside import InsideView

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

    from .snapshot import Snapshot

DEFAULT_INTERVAL = timedelta(seconds=2)
STOP_SECONDS = 10.0
_SHORTEST = timedelta(milliseconds=200)
_NOTEBOOK_LINES = 60


def watch(
    query: StreamingQuery,
    *,
    source: int | None = None,
    interval: timedelta = DEFAULT_INTERVAL,
) -> Watch:
    """Show what a query of this session is doing, until it ends.

    The call returns at once, and a thread redraws the view: below the cell of a notebook, or on a
    terminal. Elsewhere, it prints a line per look. The view asks Spark only, and uses nothing of
    the quota of a stream. ``docs/how-to/watch.md`` says what the figures mean.

    Args:
        query: a query that reads from Kinesis.
        source: number of the Kinesis source in the query, from 0; default: the only one.
        interval: time between two looks, at least 0.2 s; default: 2 s.

    Returns:
        The view, to stop it or to wait for its end.

    Raises:
        ValueError: if the interval is too short.
        MissingPackageError: if the view appears in a notebook or on a terminal, and rich is not
            installed.
        SparkKinesisError: if the query has no such Kinesis source.
    """
    if interval < _SHORTEST:
        raise ValueError(f"interval is {interval}, but must be at least {_SHORTEST}")
    return Watch(InsideView(query, source=source), interval, display(sys.stdout))


class Watch:
    """A live view. ``watch`` makes one."""

    def __init__(self, view: InsideView, interval: timedelta, shown: Display) -> None:
        """Show the first snapshot, and start the thread. A display of a failed start is closed."""
        self._view, self._interval, self._display = view, interval, shown
        self._end = threading.Event()
        try:
            self._snapshot = view.look()
            shown.show(self._snapshot)
        except BaseException:
            shown.close()
            raise
        # In a notebook, the context says to which cell the view belongs.
        self._thread = threading.Thread(
            target=copy_context().run, args=(self._redraw,), name="spark-kinesis-watch", daemon=True
        )
        self._thread.start()

    @property
    def snapshot(self) -> Snapshot:
        """The latest figures."""
        return self._snapshot

    def stop(self) -> None:
        """Stop the view, and leave it visible. The query is not affected.

        The call waits for a look that is under way, but not longer than 10 s: Spark may not answer.
        """
        self._end.set()
        self._thread.join(STOP_SECONDS)

    def wait(self, timeout: timedelta | None = None) -> bool:
        """Wait until the view ends, because the query has ended or ``stop`` was called.

        Args:
            timeout: how long to wait; default: without a limit.

        Returns:
            Whether the view has ended.
        """
        self._thread.join(None if timeout is None else timeout.total_seconds())
        return not self._thread.is_alive()

    def _redraw(self) -> None:
        try:
            while not self._end.wait(self._interval.total_seconds()):
                ended = not self._view.is_active
                found = self._view.look()
                if self._end.is_set():  # ``stop`` may have returned already
                    return
                self._snapshot = found
                self._display.show(found)
                if ended:
                    return
        except Exception as error:  # noqa: BLE001 a session that ends fails in many ways
            if not self._end.is_set():
                reason = str(error).partition("\n")[0]
                self._display.tell(f"The view ended: {type(error).__name__}: {reason}")
        finally:
            self._display.close()


def display(output: IO[str]) -> Display:
    """The place for this process."""
    is_notebook = _is_notebook()
    if not (is_notebook or output.isatty()):
        return Display(output)
    if find_spec("rich") is None:
        raise MissingPackageError("watch needs rich to draw a table: pip install rich")
    return NotebookDisplay(output) if is_notebook else TerminalDisplay(output)


def _is_notebook() -> bool:
    """Whether a kernel of Jupyter runs this code. Only it has a display that takes HTML."""
    if "IPython" not in sys.modules:
        return False
    from IPython import get_ipython  # noqa: PLC0415 only a notebook has it

    return getattr(get_ipython(), "kernel", None) is not None


class Display:
    """A line per snapshot, printed to a file."""

    def __init__(self, output: IO[str]) -> None:
        """Print nothing yet."""
        self._output = output

    def show(self, snapshot: Snapshot) -> None:
        """Show a snapshot instead of the one before."""
        self.tell(sentences.line(snapshot))

    def tell(self, text: str) -> None:
        """Say why the view ends."""
        self._output.write(f"{text}\n")
        self._output.flush()

    def close(self) -> None:
        """Leave the last snapshot visible."""


class NotebookDisplay(Display):
    """An output of the cell that changes. The notebook keeps the last one when it is saved."""

    _handle: Any = None

    def show(self, snapshot: Snapshot) -> None:
        """Show a snapshot instead of the one before."""
        from IPython.display import display as show  # noqa: PLC0415 only a notebook has it

        from .screen import html  # noqa: PLC0415 it needs rich

        shown = html(snapshot, _NOTEBOOK_LINES)
        bundle = {"text/html": shown, "text/plain": sentences.line(snapshot)}
        if self._handle is None:
            self._handle = show(bundle, raw=True, display_id=True)  # type: ignore[no-untyped-call]
        else:
            self._handle.update(bundle, raw=True)


class TerminalDisplay(Display):
    """A table that changes in place. Other output appears above it."""

    def __init__(self, output: IO[str]) -> None:
        """Start the display."""
        from rich.console import Console  # noqa: PLC0415 optional
        from rich.live import Live  # noqa: PLC0415

        self._console = Console(file=output, highlight=False)
        self._live = Live(console=self._console, auto_refresh=False)
        self._live.start()

    def show(self, snapshot: Snapshot) -> None:
        """Show a snapshot instead of the one before."""
        from .screen import screen  # noqa: PLC0415 it needs rich

        self._live.update(screen(snapshot, self._console.height), refresh=True)

    def tell(self, text: str) -> None:
        """Print a line above the table."""
        self._console.print(text, markup=False)

    def close(self) -> None:
        """Leave the last table visible."""
        self._live.stop()
