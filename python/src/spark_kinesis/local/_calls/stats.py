"""The statistics of a local Kinesis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .http_api import HttpApi

_PATH = "/_simulator/stats"


@dataclass(frozen=True, kw_only=True, slots=True)
class Stats:
    """Counts since the start, or since the last ``reset_stats()``.

    Attributes:
        calls: number of calls by operation, refused calls included.
        refused: number of refused calls by operation and error code, such as
            ``refused["GetRecords"]["ProvisionedThroughputExceededException"]``.
        records_put: number of records written.
        bytes_put: number of bytes written, partition keys included.
        records_read: number of records in answers.
        bytes_read: number of bytes of these records.
        entries_failed: number of ``PutRecords`` entries refused in calls that succeeded.
    """

    calls: Mapping[str, int] = field(default_factory=dict)
    refused: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    records_put: int = 0
    bytes_put: int = 0
    records_read: int = 0
    bytes_read: int = 0
    entries_failed: int = 0


def read(api: HttpApi) -> Stats:
    """The statistics now."""
    answer = api.admin("GET", _PATH)
    return Stats(
        calls=dict(answer["calls"]),
        refused={operation: dict(codes) for operation, codes in answer["refused"].items()},
        records_put=answer["recordsPut"],
        bytes_put=answer["bytesPut"],
        records_read=answer["recordsRead"],
        bytes_read=answer["bytesRead"],
        entries_failed=answer["entriesFailed"],
    )


def reset(api: HttpApi) -> None:
    """Set all counts to zero."""
    api.admin("DELETE", _PATH)
