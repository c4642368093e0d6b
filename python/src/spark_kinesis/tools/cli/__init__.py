"""What the command lines share: the list of commands, and how each is parsed, shown and ended.

Each command is in the folder or file of its subject, and is imported when it runs.
"""

from __future__ import annotations

from .commands import run
from .connection import Connection, connection_options, storage_option
from .output import json_option, print_json, progress_bar, screen, to_stderr
from .values import DURATION, FORMS, SOURCE, TIME, Value, read_duration, read_instant, read_time

__all__ = [
    "DURATION",
    "FORMS",
    "SOURCE",
    "TIME",
    "Connection",
    "Value",
    "connection_options",
    "json_option",
    "print_json",
    "progress_bar",
    "read_duration",
    "read_instant",
    "read_time",
    "run",
    "screen",
    "storage_option",
    "to_stderr",
]
