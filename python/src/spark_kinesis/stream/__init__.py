"""What Kinesis says about a stream: its settings, its shards, and how far a position is behind.

The calls change nothing. Every command that looks at a stream makes them here.
"""

from __future__ import annotations

from .reading import Probe, probe
from .records import FirstRecords, StreamRecord, first_records
from .shards import StreamShard, list_shards
from .summary import StreamSummary, describe

__all__ = [
    "FirstRecords",
    "Probe",
    "StreamRecord",
    "StreamShard",
    "StreamSummary",
    "describe",
    "first_records",
    "list_shards",
    "probe",
]
