"""Where a live view appears: below the cell of a notebook, on a terminal, or as lines."""

from __future__ import annotations

import sys
from html import escape
from typing import IO, TYPE_CHECKING, Any, Protocol

from spark_kinesis._errors import MissingPackageError

from . import sentences
from .page import fragment

if TYPE_CHECKING:
    from spark_kinesis.live.model.history import History


class Display(Protocol):
    """A place for a view that changes."""

    def show(self, history: History) -> None:
        """Show the last snapshot instead of the one before."""

    def tell(self, text: str) -> None:
        """Say why the view ends."""

    def close(self) -> None:
        """Leave the last snapshot visible."""


def display(output: IO[str]) -> Display:
    """The place for this process.

    Raises:
        MissingPackageError: if it needs a package that is not installed.
    """
    if _is_notebook():
        return NotebookDisplay()
    return TerminalDisplay() if output.isatty() else LineDisplay(output)


def _is_notebook() -> bool:
    """Whether a kernel of Jupyter runs this code. Only it has a display that takes pictures."""
    if "IPython" not in sys.modules:
        return False
    from IPython import get_ipython  # noqa: PLC0415 only a notebook has it

    shell = get_ipython()
    return shell is not None and getattr(shell, "kernel", None) is not None


class NotebookDisplay:
    """A picture that changes. The notebook keeps the last one when it is saved."""

    def __init__(self) -> None:
        """Show nothing yet."""
        self._handle: Any = None
        self._html = ""
        self._text = ""

    def show(self, history: History) -> None:
        """Show the last snapshot instead of the one before."""
        self._html, self._text = fragment(history), sentences.line(history.last)
        self._put()

    def tell(self, text: str) -> None:
        """Say why the view ends, below the last snapshot."""
        self._html += f"\n<p>{escape(text)}</p>"
        self._put()

    def close(self) -> None:
        """Does nothing: the picture stays."""

    def _put(self) -> None:
        from IPython.display import display as show  # noqa: PLC0415 only a notebook has it

        bundle = {"text/html": self._html, "text/plain": self._text}
        if self._handle is None:
            self._handle = show(bundle, raw=True, display_id=True)  # type: ignore[no-untyped-call]
        else:
            self._handle.update(bundle, raw=True)


class TerminalDisplay:
    """A table that changes in place. Other output appears above it."""

    def __init__(self) -> None:
        """Start the display.

        Raises:
            MissingPackageError: if rich is not installed.
        """
        try:
            from rich.console import Console  # noqa: PLC0415 optional
            from rich.live import Live  # noqa: PLC0415
        except ImportError as error:
            raise MissingPackageError(
                "watch needs rich on a terminal: pip install 'spark-kinesis[watch]'"
            ) from error
        self._console = Console(highlight=False)
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


class LineDisplay:
    """A line per snapshot."""

    def __init__(self, output: IO[str]) -> None:
        """Print to a file."""
        self._output = output

    def show(self, history: History) -> None:
        """Print the last snapshot."""
        self.tell(sentences.line(history.last))

    def tell(self, text: str) -> None:
        """Print a line."""
        self._output.write(f"{text}\n")
        self._output.flush()

    def close(self) -> None:
        """Does nothing."""
