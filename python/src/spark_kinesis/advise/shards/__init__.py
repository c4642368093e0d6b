"""Which shards to split or merge, and where in the hash range. Makes no calls."""

from __future__ import annotations

from .layout import HotKey, Layout, Limits, Piece, plan_layout
from .load import Point, Rate, ShardLoad
from .steps import HashRange, Merge, Split, Step, all_steps, next_step

__all__ = [
    "HashRange",
    "HotKey",
    "Layout",
    "Limits",
    "Merge",
    "Piece",
    "Point",
    "Rate",
    "ShardLoad",
    "Split",
    "Step",
    "all_steps",
    "next_step",
    "plan_layout",
]
