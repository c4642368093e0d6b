"""Takes streams over from another consumer, and hands them back to the KCL.

The commands are those of ``spark-kinesis migrate``.
"""

from __future__ import annotations

from .handing_back import HandOver, hand_back
from .leases import Lease, NewLease, kcl_stops, scan_leases
from .positions import (
    Stop,
    Stops,
    ends_in_dynamodb,
    ends_in_files,
    read_stops,
)
from .takeover import TakeOver, take_over

__all__ = [
    "HandOver",
    "Lease",
    "NewLease",
    "Stop",
    "Stops",
    "TakeOver",
    "ends_in_dynamodb",
    "ends_in_files",
    "hand_back",
    "kcl_stops",
    "read_stops",
    "scan_leases",
    "take_over",
]
