"""The checks, in the order in which a set-up works: software first, the checkpoint last."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spark_kinesis.tools.facts.files import shown

from .base import Check, Say
from .checkpoint import checkpoint_check
from .permissions import permission_check
from .setup import access_check, network_check, software_check
from .stream import quota_check, stream_check

if TYPE_CHECKING:
    from spark_kinesis.doctor.question import Question

__all__ = ["Check", "Say", "checks_for"]


def checks_for(question: Question) -> list[Check]:
    """The checks that a question allows."""
    checks = [
        Check(text="software", run=software_check),
        Check(text="region and credentials", run=access_check),
        Check(text="network", run=network_check),
    ]
    if question.stream is not None:
        checks += [
            Check(text=f"stream {question.stream}", run=stream_check),
            # Before the checks that read records themselves.
            Check(text="read quota", run=quota_check),
            Check(text="permissions", run=permission_check),
        ]
    if question.checkpoint is not None:
        checks.append(Check(text=shown(f"checkpoint {question.checkpoint}"), run=checkpoint_check))
    return checks
