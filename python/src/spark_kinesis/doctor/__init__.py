"""Examines a set-up from the inside out, and says what to do about each problem.

The command is ``spark-kinesis doctor``. ``examine`` is the same for programs and notebooks.
"""

from __future__ import annotations

from .examination import Step, examine
from .finding import Finding, State
from .report import Report

__all__ = ["Finding", "Report", "State", "Step", "examine"]
