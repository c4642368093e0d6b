"""Counts the duplicates and the gaps in what exactly-once queries have written to a stream.

The function ``audit`` and the command ``python -m spark_kinesis.audit`` read the stream itself,
with a batch query.
"""

from .counts import QueryAudit, audit

__all__ = ["QueryAudit", "audit"]
