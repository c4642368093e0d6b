"""Can this machine reach the endpoint: names, proxy, TLS, HTTP/2, and how fast?"""

from __future__ import annotations

from .findings import account_finding, network_findings
from .route import Route, account_urls, route_to
from .trip import Trip, travel

__all__ = [
    "Route",
    "Trip",
    "account_finding",
    "account_urls",
    "network_findings",
    "route_to",
    "travel",
]
