"""Reasons why an event is not stored."""

from __future__ import annotations

UNPARSABLE = "unparsable"
UNDATED = "undated"
TOO_LARGE = "too large"
EXPIRED = "expired"
FROM_THE_FUTURE = "from the future"
