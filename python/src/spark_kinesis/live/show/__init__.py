"""The renderings of a snapshot: for a terminal, for a notebook, and as a page."""

from __future__ import annotations
