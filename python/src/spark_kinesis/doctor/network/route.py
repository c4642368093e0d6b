"""The way to an endpoint: host, port, and proxy. Makes no calls."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

_PORTS = {"http": 80, "https": 443}
_SERVICES = ("kinesis", "kinesis-fips")


def account_urls(url: str, account: str) -> list[str]:
    """The endpoints of an account: for control calls, and for data.

    The AWS SDK calls them for a stream or a consumer that is named by its ARN.

    Args:
        url: URL of the endpoint of the region.
        account: ID of the account.

    Returns:
        URLs. None, if the endpoint is not that of a region: then all calls go to it.
    """
    found = urlsplit(url)
    service, _, rest = (found.hostname or "").partition(".")
    if service not in _SERVICES or found.port is not None:
        return []
    return [f"{found.scheme}://{account}.{kind}-{service}.{rest}" for kind in ("control", "data")]


@dataclass(frozen=True, kw_only=True)
class Route:
    """The way to an endpoint.

    Attributes:
        url: URL of the endpoint.
        host: its host name.
        port: its port.
        is_tls: whether the connection is encrypted.
        proxy: URL of the proxy from the environment. ``None`` for a direct connection.
    """

    url: str
    host: str
    port: int
    is_tls: bool
    proxy: str | None = None

    @property
    def proxy_text(self) -> str:
        """The proxy without its password."""
        found = urlsplit(self.proxy or "")
        return f"{found.scheme}://{found.hostname}:{found.port or _PORTS.get(found.scheme, 80)}"


def route_to(url: str, *, is_local: bool) -> Route:
    """The way to an endpoint, by the proxies of the environment.

    Args:
        url: URL of the endpoint.
        is_local: whether it is on this machine. Then there is no proxy.

    Raises:
        ValueError: if the URL of the proxy is wrong.
    """
    found = urlsplit(url)
    host = found.hostname or ""
    proxy = None if is_local or proxy_bypass(host) else getproxies().get(found.scheme)
    if proxy is not None and "://" not in proxy:
        proxy = f"http://{proxy}"
    if proxy is not None:
        _ = urlsplit(proxy).port  # refuses a port that is no number
    return Route(
        url=url,
        host=host,
        port=found.port or _PORTS.get(found.scheme, 443),
        is_tls=found.scheme == "https",
        proxy=proxy,
    )
