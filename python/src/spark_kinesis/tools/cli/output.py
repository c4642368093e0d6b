"""What commands print: results to standard output, all else to standard error."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, is_dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import Any

import click
from rich.console import Console
from rich.progress import Progress

from spark_kinesis._times import to_iso

_WIDE = 1000

json_option = click.option("--json", "as_json", is_flag=True, help="print JSON")


def screen() -> Console:
    """The terminal. Without one, text is plain, and lines are not cut."""
    if sys.stdout.isatty():
        return Console(highlight=False, emoji=False)
    return Console(highlight=False, emoji=False, soft_wrap=True, width=_WIDE)


def progress_bar() -> Progress:
    """A progress bar on standard error. Without a terminal there, it shows nothing."""
    terminal = Console(stderr=True)
    return Progress(console=terminal, transient=True, disable=not terminal.is_terminal)


def to_stderr(text: str) -> None:
    """Print a line for people, apart from the result."""
    print(text, file=sys.stderr, flush=True)


def print_json(value: Any) -> None:
    """Print one line of JSON.

    Dataclasses become objects, times ISO 8601 texts in UTC, durations seconds.
    """
    print(json.dumps(value, default=_plain), flush=True)


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, datetime):
        return to_iso(value)
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} has no JSON")
