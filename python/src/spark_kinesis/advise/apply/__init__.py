"""Splits and merges shards, one call after the other."""

from __future__ import annotations

from .reshard import Reshard, Times
from .room import need_room
from .saved import Saved

__all__ = ["Reshard", "Saved", "Times", "need_room"]
