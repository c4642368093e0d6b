"""What a check is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from spark_kinesis import SparkKinesisError
from spark_kinesis.doctor.aws import refused
from spark_kinesis.doctor.finding import Finding, problem

if TYPE_CHECKING:
    from spark_kinesis.doctor.question import Question

Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Check:
    """A part of the examination.

    Attributes:
        text: what it does, for the progress.
        run: looks, and returns its findings. It may say how far it is.
    """

    text: str
    run: Callable[[Question, Say], list[Finding]]


def stopped(section: str, subject: str, error: Exception) -> Finding:
    """The finding for an error that ends a check."""
    if isinstance(error, SparkKinesisError):
        remedy = "Correct this first. The other facts need it."
        return problem(section, subject, str(error), remedy)
    operation = getattr(error, "operation_name", None) or "DescribeStreamSummary"
    return refused(section, subject, error, f"kinesis:{operation}")
