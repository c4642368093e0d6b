"""Takes streams over from another consumer: its positions become those of a new query.

The command is ``spark-kinesis migrate``. Nothing here changes the other consumer's positions.
"""

from __future__ import annotations

from .migration import StreamMigration, source_offset, take_over
from .stops import Stop, StopKind, StreamStops

__all__ = ["Stop", "StopKind", "StreamMigration", "StreamStops", "source_offset", "take_over"]
