"""Moves a query to another position: its next start begins there. The command is ``rewind``."""

from __future__ import annotations

from .effects import Change, Effect
from .plan import Target, rewound

__all__ = ["Change", "Effect", "Target", "rewound"]
