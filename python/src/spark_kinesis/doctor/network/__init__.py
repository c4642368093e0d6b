"""Can this machine reach the endpoint: names, proxy, TLS, HTTP/2, and how fast?"""

from __future__ import annotations

from .findings import network_findings
from .route import Route, route_to
from .trip import Trip, travel

__all__ = ["Route", "Trip", "network_findings", "route_to", "travel"]
