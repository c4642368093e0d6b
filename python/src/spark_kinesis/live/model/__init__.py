"""What a query is doing: from facts to the figures that all views show. No clock, no I/O."""

from __future__ import annotations
