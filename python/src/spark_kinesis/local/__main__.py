"""Runs the command ``python -m spark_kinesis.local``."""

from __future__ import annotations

import sys

from ._server.command_line import main

if __name__ == "__main__":
    sys.exit(main())
