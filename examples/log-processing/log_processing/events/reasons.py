"""Reasons why an event is kept in the folder of bad events."""

from __future__ import annotations

UNPARSABLE = "unparsable"
UNDATED = "undated"
TOO_LARGE = "too large"
EXPIRED = "expired"
FROM_THE_FUTURE = "from the future"
REFUSED = "refused by DynamoDB"
ALERT_REFUSED = "alert refused"
