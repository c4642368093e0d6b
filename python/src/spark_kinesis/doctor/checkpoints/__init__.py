"""Can a query continue from its checkpoint, and how far is it behind?"""

from __future__ import annotations

from .facts import ShardFact, StreamFacts
from .log import LogFacts, read_log
from .look import look_at
from .restart import log_findings, stream_findings

__all__ = [
    "LogFacts",
    "ShardFact",
    "StreamFacts",
    "log_findings",
    "look_at",
    "read_log",
    "stream_findings",
]
