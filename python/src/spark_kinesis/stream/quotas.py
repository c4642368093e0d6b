"""What Kinesis allows per shard. Makes no calls.

Source: "Quotas and limits" of the Kinesis Data Streams developer guide.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

MIB = 1024 * 1024
WRITE_RECORDS, WRITE_BYTES = 1000, MIB
"""Per second."""
READ_CALLS, READ_BYTES = 5, 2 * MIB
"""Per second. All applications that poll a shard share them."""
THROTTLED = "ProvisionedThroughputExceededException"
"""The service's name of the error if a shard refuses a call because of its quota."""


def pause_after(records: Iterable[Mapping[str, Any]], share: float) -> float:
    """Seconds from a call of ``GetRecords`` to the next one of the same shard.

    Args:
        records: the records that the call returned.
        share: part of the read quota to use.
    """
    size = sum(len(it["Data"]) for it in records)
    return max(1 / READ_CALLS, size / READ_BYTES) / share
