"""The parts of the campaign, in their order."""

from __future__ import annotations

from tests.campaign.histories import HISTORIES

PARTS = {part.name: part for part in [HISTORIES]}
