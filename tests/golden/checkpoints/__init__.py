"""Checkpoints of released versions: see `__main__.py`."""

from __future__ import annotations

from pathlib import Path

# Exactly once, a checkpoint with another path is another query, which writes a batch again.
ONCE_PLACE = Path("/tmp/spark-kinesis-golden/checkpoint")  # noqa: S108 - the same on each machine
