"""Capacity mode, aggregation, fan-out, and the size of the job. Makes no calls."""

from __future__ import annotations

from .aggregation import advise_aggregation
from .choice import Choice
from .job import Job, advise_buffer, advise_executors, advise_partitions
from .mode import advise_mode
from .readers import advise_readers
from .traffic import Traffic

__all__ = [
    "Choice",
    "Job",
    "Traffic",
    "advise_aggregation",
    "advise_buffer",
    "advise_executors",
    "advise_mode",
    "advise_partitions",
    "advise_readers",
]
