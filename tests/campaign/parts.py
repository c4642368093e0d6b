"""The parts of the campaign, in their order."""

from __future__ import annotations

from tests.campaign.checkpoints import CHECKPOINTS
from tests.campaign.fuzz import FUZZ
from tests.campaign.histories import HISTORIES
from tests.campaign.networks import NETWORKS
from tests.campaign.restarts import RESTARTS
from tests.campaign.scale import SCALE
from tests.campaign.soak import SOAK

PARTS = {
    part.name: part for part in [HISTORIES, RESTARTS, CHECKPOINTS, NETWORKS, SOAK, FUZZ, SCALE]
}
