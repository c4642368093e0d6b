"""What a local Kinesis has counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

PATH = "/_simulator/stats"


@dataclass(frozen=True, kw_only=True, slots=True)
class Stats:
    """Counted since the start, or since ``reset_stats()``.

    Attributes:
        calls: calls by operation, refused ones among them.
        refused: by operation and error code, such as
            ``refused["GetRecords"]["ProvisionedThroughputExceededException"]``.
        records_put: records written.
        bytes_put: of them, with their partition keys.
        records_read: records answered by reads.
        bytes_read: of them.
        entries_failed: entries of ``PutRecords`` that were refused while the call succeeded.
    """

    calls: Mapping[str, int] = field(default_factory=dict)
    refused: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    records_put: int = 0
    bytes_put: int = 0
    records_read: int = 0
    bytes_read: int = 0
    entries_failed: int = 0


def counted(answer: Mapping[str, Any]) -> Stats:
    """From the server's JSON."""
    return Stats(
        calls=dict(answer["calls"]),
        refused={operation: dict(codes) for operation, codes in answer["refused"].items()},
        records_put=answer["recordsPut"],
        bytes_put=answer["bytesPut"],
        records_read=answer["recordsRead"],
        bytes_read=answer["bytesRead"],
        entries_failed=answer["entriesFailed"],
    )
