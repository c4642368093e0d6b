"""How much of the read quota of a stream is in use."""

from __future__ import annotations

from .burst import Burst, read_five_times
from .findings import burst_finding, usage_finding
from .usage import Usage, find_usage

__all__ = ["Burst", "Usage", "burst_finding", "find_usage", "read_five_times", "usage_finding"]
