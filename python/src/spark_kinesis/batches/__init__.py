"""The micro-batches of a query: what each has read. The command is ``spark-kinesis batches``."""

from __future__ import annotations

from .history import BatchReads, ShardRead, history, read_numbers

__all__ = ["BatchReads", "ShardRead", "history", "read_numbers"]
