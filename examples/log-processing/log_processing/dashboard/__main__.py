"""``python -m log_processing.dashboard``."""

from __future__ import annotations

from .command_line import main

main()
