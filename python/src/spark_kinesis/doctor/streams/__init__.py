"""Is the stream as a query needs it?"""

from __future__ import annotations

from .findings import stream_findings
from .look import Seen, look_at

__all__ = ["Seen", "look_at", "stream_findings"]
