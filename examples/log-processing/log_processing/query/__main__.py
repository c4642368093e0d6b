"""``python -m log_processing.query``."""

from __future__ import annotations

import sys

from .command_line import main

sys.exit(main())
