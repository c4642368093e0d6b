"""``python -m log_processing.dashboard``."""

from __future__ import annotations

import sys

from .command_line import main

sys.exit(main())
