"""Reads the checkpoints of Spark queries without Spark: which records each micro-batch has read.

``docs/reference/checkpoint-format.md`` describes the offsets.
"""

from __future__ import annotations

from .batch import Batch
from .files import CheckpointFiles, StoreKeys, is_s3, open_files
from .keys import keys_for
from .log import Checkpoint
from .offset import Progress, ShardOffset, SourceOffset, StreamOffset
from .position import chosen_streams, next_position, next_positions

__all__ = [
    "Batch",
    "Checkpoint",
    "CheckpointFiles",
    "Progress",
    "ShardOffset",
    "SourceOffset",
    "StoreKeys",
    "StreamOffset",
    "chosen_streams",
    "is_s3",
    "keys_for",
    "next_position",
    "next_positions",
    "open_files",
]
