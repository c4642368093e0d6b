"""An answer to one question, with its reasons and figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """An answer.

    Attributes:
        question: what is chosen, such as ``capacity mode``.
        answer: what to do.
        reasons: sentences with the figures behind the answer.
        figures: the same figures for programs. The end of a name is its unit.
    """

    question: str
    answer: str
    reasons: tuple[str, ...]
    figures: Mapping[str, float] = field(default_factory=dict)
