"""The command line ``spark-kinesis``: what its commands share.

Each command is in the folder of its subject, and is imported when it runs.
"""

from __future__ import annotations

from .connection import Connection, connection_options
from .main import run
from .output import print_json, progress_bar, screen, to_stderr
from .source import SOURCE

__all__ = [
    "SOURCE",
    "Connection",
    "connection_options",
    "print_json",
    "progress_bar",
    "run",
    "screen",
    "to_stderr",
]
