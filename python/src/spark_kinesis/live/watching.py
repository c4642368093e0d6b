"""``spark_kinesis.watch``: a live view of a query of this session."""

from __future__ import annotations

import sys
import threading
from contextvars import copy_context
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from .inside import InsideView
from .model.history import History
from .show.displays import Display, display
from .show.page import page

if TYPE_CHECKING:
    import os

    from pyspark.sql.streaming.query import StreamingQuery

    from .model.snapshot import Snapshot

DEFAULT_INTERVAL = timedelta(seconds=2)
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
        """Show the first snapshot, and start the thread.

        Args:
            view: what to look at.
            interval: time between two looks.
            shown: where to show it.
        """
        self._view, self._interval, self._display = view, interval, shown
        self._end = threading.Event()
        self._history = History(view.look())
        shown.show(self._history)
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
        """Stop the view. The last picture stays. The query is not affected."""
        self._end.set()
        self._thread.join()

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
                self._history.add(self._view.look())
                self._display.show(self._history)
                if ended:
                    return
        except Exception as error:  # noqa: BLE001 a session that ends fails in many ways
            reason = str(error).partition("\n")[0]
            self._display.tell(f"The view ended: {type(error).__name__}: {reason}")
        finally:
            self._display.close()
