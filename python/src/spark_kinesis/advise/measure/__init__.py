"""Measures a stream: metrics of CloudWatch, and a sample of its records. Changes nothing."""

from __future__ import annotations

from .stream import Asked, Measured, measure

__all__ = ["Asked", "Measured", "measure"]
