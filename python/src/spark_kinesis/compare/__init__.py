"""Compares the records of two ``DataFrame`` objects. The command is ``spark-kinesis diff``."""

from __future__ import annotations

from .difference import IDENTITY, Difference, compare

__all__ = ["IDENTITY", "Difference", "compare"]
