"""The source: its fields, and the DataFrames that read with it."""

from __future__ import annotations

from .source import KinesisSource

__all__ = ["KinesisSource"]
