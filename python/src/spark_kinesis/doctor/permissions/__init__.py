"""Are the actions of docs/how-to/iam.md allowed, as far as that can be proved without writing?"""

from __future__ import annotations

from .actions import ACTIONS, Action, Use, uses_of
from .calls import Outcome, call_harmlessly
from .findings import Evidence, permission_findings
from .key import KeyFacts, find_key, key_finding
from .simulator import principal_of, simulate

__all__ = [
    "ACTIONS",
    "Action",
    "Evidence",
    "KeyFacts",
    "Outcome",
    "Use",
    "call_harmlessly",
    "find_key",
    "key_finding",
    "permission_findings",
    "principal_of",
    "simulate",
    "uses_of",
]
