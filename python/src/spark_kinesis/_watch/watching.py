"""``spark_kinesis.watch``: a live view of a query of this session.

It appears below the cell of a notebook, on a terminal, or as lines.
"""

from __future__ import annotations

import sys
import threading
from contextvars import copy_context
from datetime import timedelta
from html import escape
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from spark_kinesis._errors import MissingPackageError

from . import sentences
from .inside import InsideView
from .page import History, fragment, page

if TYPE_CHECKING:
    import os

    from pyspark.sql.streaming.query import StreamingQuery

    from .snapshot import Snapshot

DEFAULT_INTERVAL = timedelta(seconds=2)
STOP_SECONDS = 10.0
_SHORTEST = timedelta(milliseconds=200)


def watch(
    query: StreamingQuery,
    *,
    source: int | None = None,
    retention: timedelta | None = None,
    interval: timedelta = DEFAULT_INTERVAL,
) -> Watch:
    """Show what a query of this session is doing, until it ends.

    The call returns at once, and a thread redraws the view. In a notebook, the view is a picture
    below the cell, which the saved notebook keeps. On a terminal, it is a table; elsewhere, it is
    a line per look. The view asks Spark only, and uses nothing of the quota of a stream.
    ``docs/how-to/watch.md`` says what the figures mean.

    Args:
        query: a query that reads from Kinesis.
        source: number of the Kinesis source in the query, from 0; default: the only one.
        retention: how long the streams keep records, for a forecast of when unread records expire;
            default: as the query reports it. With several streams, it is unknown by default.
        interval: time between two looks, at least 0.2 s; default: 2 s.

    Returns:
        The view, to stop it or to save a report.

    Raises:
        ValueError: if the interval is too short.
        MissingPackageError: if rich or, in a notebook, matplotlib is not installed.
        SparkKinesisError: if the query has no such Kinesis source.
    """
    if interval < _SHORTEST:
        raise ValueError(f"interval is {interval}, but must be at least {_SHORTEST}")
    view = InsideView(query, source=source, retention=retention)
    return Watch(view, interval, display(sys.stdout))


class Watch:
    """A live view. ``watch`` makes one."""

    def __init__(self, view: InsideView, interval: timedelta, shown: Display) -> None:
        """Show the first snapshot, and start the thread. A display of a failed start is closed."""
        self._view, self._interval, self._display = view, interval, shown
        self._end = threading.Event()
        try:
            self._history = History(view.look())
            shown.show(self._history)
        except BaseException:
            shown.close()
            raise
        # In a notebook, the context says to which cell the picture belongs.
        self._thread = threading.Thread(
            target=copy_context().run, args=(self._redraw,), name="spark-kinesis-watch", daemon=True
        )
        self._thread.start()

    @property
    def snapshot(self) -> Snapshot:
        """The latest figures."""
        return self._history.last

    def stop(self) -> None:
        """Stop the view. The last picture stays. The query is not affected.

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

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a page of HTML with the latest figures and charts, for example for a ticket.

        Args:
            path: the file. An existing one is replaced.

        Raises:
            MissingPackageError: if matplotlib is not installed.
        """
        from spark_kinesis import __version__  # noqa: PLC0415 it imports this module

        Path(path).write_text(page(self._history, __version__), "utf-8")

    def _redraw(self) -> None:
        try:
            while not self._end.wait(self._interval.total_seconds()):
                ended = not self._view.is_active
                found = self._view.look()
                if self._end.is_set():  # ``stop`` may have returned already
                    return
                history = self._history.copy()  # ``save`` may be reading the other one
                history.add(found)
                self._history = history
                self._display.show(history)
                if ended:
                    return
        except Exception as error:  # noqa: BLE001 a session that ends fails in many ways
            if not self._end.is_set():
                reason = str(error).partition("\n")[0]
                self._display.tell(f"The view ended: {type(error).__name__}: {reason}")
        finally:
            self._display.close()


def display(output: IO[str]) -> Display:
    """The place for this process.

    Raises:
        MissingPackageError: if it needs a package that is not installed.
    """
    if _is_notebook():
        return NotebookDisplay(output)
    return TerminalDisplay(output) if output.isatty() else Display(output)


def _is_notebook() -> bool:
    """Whether a kernel of Jupyter runs this code. Only it has a display that takes pictures."""
    if "IPython" not in sys.modules:
        return False
    from IPython import get_ipython  # noqa: PLC0415 only a notebook has it

    shell = get_ipython()
    return shell is not None and getattr(shell, "kernel", None) is not None


class Display:
    """A line per snapshot, printed to a file."""

    def __init__(self, output: IO[str]) -> None:
        """Print nothing yet."""
        self._output = output

    def show(self, history: History) -> None:
        """Show the last snapshot instead of the one before."""
        self.tell(sentences.line(history.last))

    def tell(self, text: str) -> None:
        """Say why the view ends."""
        self._output.write(f"{text}\n")
        self._output.flush()

    def close(self) -> None:
        """Leave the last snapshot visible."""


class NotebookDisplay(Display):
    """A picture that changes. The notebook keeps the last one when it is saved."""

    _handle: Any = None
    _html = ""
    _text = ""

    def show(self, history: History) -> None:
        """Show the last snapshot instead of the one before."""
        self._html, self._text = fragment(history), sentences.line(history.last)
        self._put()

    def tell(self, text: str) -> None:
        """Say why the view ends, below the last snapshot."""
        self._html += f"\n<p>{escape(text)}</p>"
        self._put()

    def _put(self) -> None:
        from IPython.display import display as show  # noqa: PLC0415 only a notebook has it

        bundle = {"text/html": self._html, "text/plain": self._text}
        if self._handle is None:
            self._handle = show(bundle, raw=True, display_id=True)  # type: ignore[no-untyped-call]
        else:
            self._handle.update(bundle, raw=True)


class TerminalDisplay(Display):
    """A table that changes in place. Other output appears above it."""

    def __init__(self, output: IO[str]) -> None:
        """Start the display.

        Raises:
            MissingPackageError: if rich is not installed.
        """
        try:
            from rich.console import Console  # noqa: PLC0415 optional
            from rich.live import Live  # noqa: PLC0415
        except ImportError as error:
            raise MissingPackageError("watch needs rich on a terminal: pip install rich") from error
        self._console = Console(file=output, highlight=False)
        self._live = Live(console=self._console, auto_refresh=False)
        self._live.start()

    def show(self, history: History) -> None:
        """Show the last snapshot instead of the one before."""
        from .terminal import screen  # noqa: PLC0415 it needs rich

        self._live.update(screen(history.last, self._console.height), refresh=True)

    def tell(self, text: str) -> None:
        """Print a line above the table."""
        self._console.print(text, markup=False)

    def close(self) -> None:
        """Leave the last table visible."""
        self._live.stop()
