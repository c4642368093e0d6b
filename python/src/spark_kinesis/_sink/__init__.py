"""The sink: its fields, and the writes that it defines."""

from __future__ import annotations

from .sink import KinesisSink

__all__ = ["KinesisSink"]
