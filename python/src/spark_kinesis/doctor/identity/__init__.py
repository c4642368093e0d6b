"""As whom are the calls made, in which region, and is the clock right?"""

from __future__ import annotations

from .credentials import CredentialFacts, credential_findings, find_credentials
from .region import RegionFacts, find_region, region_finding
from .skew import skew_finding

__all__ = [
    "CredentialFacts",
    "RegionFacts",
    "credential_findings",
    "find_credentials",
    "find_region",
    "region_finding",
    "skew_finding",
]
