"""Can this machine reach the endpoint: names, proxy, TLS, HTTP/2, and how fast?

It goes to an endpoint and back, without credentials. Each step has a time limit.
"""

from __future__ import annotations

import os
import socket
import ssl
import time
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from ipaddress import ip_address
from statistics import median
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from spark_kinesis import SparkKinesisError
from spark_kinesis._boto import CallSettings

from .access import clock_finding
from .finding import Finding, Section
from .setup import account_of

if TYPE_CHECKING:
    from .setup import Setup

NETWORK = Section("network")
_SECONDS = 5.0
_REQUESTS = 3
_MILLIS = 1000
_PORTS = {"http": 80, "https": 443}
_SERVICES = ("kinesis", "kinesis-fips")


def network_check(setup: Setup) -> list[Finding]:
    """The way to the endpoint, and the clock of the service. Needs a region, no credentials."""
    try:
        url = setup.kinesis(setup.stream).meta.endpoint_url
    except SparkKinesisError:
        return []  # the check of the region has said why
    settings = setup.connection.settings
    try:
        route = route_to(url, settings, is_local=setup.is_local)
    except ValueError as error:
        remedy = "Correct HTTPS_PROXY, HTTP_PROXY or --proxy: its form is http://host:port."
        return [NETWORK.problem("proxy", f"the URL of the proxy is wrong: {error}", remedy)]
    trip = travel(route)
    setup.clock.learn(trip.headers)
    findings = trip_findings(trip, needs_http2=setup.consumer is not None)
    account = _account(setup)
    if account is not None:
        routes = [route_to(it, settings) for it in account_urls(url, account)]
        findings += [_account_finding(travel(it)) for it in routes]
    if trip.headers:
        findings.append(clock_finding(setup.clock.ahead))
    return findings


def _account(setup: Setup) -> str | None:
    """The account of the stream, if calls go to its endpoints: by an ARN, or by a consumer."""
    named = account_of(setup.stream) or account_of(setup.consumer)
    if named is not None or setup.consumer is None:
        return named
    return account_of(setup.identity)


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
    """The way to an endpoint."""

    url: str  # URL of the endpoint
    host: str  # its host name
    port: int  # its port
    is_tls: bool  # whether the connection is encrypted
    proxy: str | None  # URL of the proxy. ``None`` for a direct connection.
    certificates: str | None  # file of the certificates to trust; default: those of the system

    @property
    def proxy_text(self) -> str:
        """The proxy without its password."""
        found = urlsplit(self.proxy or "")
        return f"{found.scheme}://{found.hostname}:{found.port or _PORTS.get(found.scheme, 80)}"


def route_to(url: str, settings: CallSettings | None = None, *, is_local: bool = False) -> Route:
    """The way to an endpoint, as the settings say, or else the environment.

    Args:
        url: URL of the endpoint.
        settings: proxy and certificates; default: those of the environment.
        is_local: whether it is on this machine. Then there is no proxy.

    Raises:
        ValueError: if the URL of the proxy is wrong.
    """
    chosen = settings or CallSettings()
    found = urlsplit(url)
    host = found.hostname or ""
    proxy = None
    if not is_local:  # botocore uses a proxy of the settings whatever NO_PROXY says
        proxy = chosen.proxy
        if proxy is None and not proxy_bypass(host):
            proxy = getproxies().get(found.scheme)
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
        certificates=chosen.ca_bundle or os.environ.get("AWS_CA_BUNDLE"),
    )


@dataclass(frozen=True, kw_only=True)
class Trip:
    """What a trip to an endpoint found."""

    route: Route  # the way
    addresses: tuple[str, ...] = ()  # IP addresses of the host. None behind a proxy.
    failure: Exception | None = None  # why no answer came, or ``None``
    tls: str | None = None  # version of TLS, or ``None`` without encryption
    is_http2: bool | None = None  # whether the endpoint speaks HTTP/2. ``None`` if unknown.
    round_trip: float | None = None  # time for a request and its answer, in seconds
    headers: Mapping[str, str] = field(default_factory=dict)  # headers of the last answer


def travel(route: Route) -> Trip:
    """Resolve the host, connect, and send three empty requests."""
    addresses: tuple[str, ...] = ()
    try:
        if route.proxy is None:
            found = socket.getaddrinfo(route.host, route.port, type=socket.SOCK_STREAM)
            addresses = tuple(dict.fromkeys(str(it[4][0]) for it in found))
        times, headers, tls = _ask(route)
    except (OSError, UnicodeError, HTTPException) as error:  # ssl.SSLError is an OSError
        return Trip(route=route, addresses=addresses, failure=error)
    return Trip(
        route=route,
        addresses=addresses,
        tls=tls,
        is_http2=_is_http2(route),
        round_trip=median(times),
        headers=headers,
    )


def _ask(route: Route) -> tuple[list[float], dict[str, str], str | None]:
    """Times of the requests after the first, which also connects; headers; version of TLS."""
    connection = _connection(route, "http/1.1")
    target = route.url if route.proxy is not None and not route.is_tls else "/"
    try:
        connection.connect()
        tls = connection.sock.version() if isinstance(connection.sock, ssl.SSLSocket) else None
        times = []
        for _ in range(_REQUESTS):
            start = time.monotonic()
            connection.request("GET", target)
            answer = connection.getresponse()
            answer.read()
            times.append(time.monotonic() - start)
            headers = dict(answer.getheaders())
    finally:
        connection.close()
    return times, headers, tls


def _is_http2(route: Route) -> bool | None:
    """Whether the endpoint agrees on HTTP/2 while it begins TLS. ``None`` without TLS."""
    connection = _connection(route, "h2", "http/1.1")
    try:
        connection.connect()
        if not isinstance(connection.sock, ssl.SSLSocket):
            return None
        return connection.sock.selected_alpn_protocol() == "h2"
    except (OSError, HTTPException):
        return None
    finally:
        connection.close()


def _connection(route: Route, *protocols: str) -> HTTPConnection:
    host, port = route.host, route.port
    proxy = urlsplit(route.proxy or "")
    if route.proxy is not None:
        host, port = proxy.hostname or "", proxy.port or _PORTS["http"]
    if not route.is_tls:
        return HTTPConnection(host, port, timeout=_SECONDS)
    context = ssl.create_default_context(cafile=route.certificates)
    context.set_alpn_protocols(list(protocols))
    connection = HTTPSConnection(host, port, timeout=_SECONDS, context=context)
    if route.proxy is not None:
        connection.set_tunnel(
            route.host, route.port, _authorization(proxy.username, proxy.password)
        )
    return connection


def _authorization(user: str | None, password: str | None) -> dict[str, str]:
    if user is None:
        return {}
    pair = f"{unquote(user)}:{unquote(password or '')}"
    return {"Proxy-Authorization": f"Basic {b64encode(pair.encode()).decode()}"}


def trip_findings(trip: Trip, *, needs_http2: bool) -> list[Finding]:
    """What a trip means: endpoint, proxy, addresses, TLS, HTTP/2 and round trip.

    Args:
        trip: what a trip found.
        needs_http2: whether the query has a consumer of enhanced fan-out.
    """
    route = trip.route
    findings = [NETWORK.ok("endpoint", route.url)]
    if route.proxy is not None:
        findings.append(NETWORK.ok("proxy", f"requests go through {route.proxy_text}"))
    if trip.addresses:
        findings.append(NETWORK.ok("address", _addresses(trip)))
    if trip.failure is not None:
        return [*findings, _failure(route, trip.failure)]
    millis = (trip.round_trip or 0) * _MILLIS
    return [
        *findings,
        NETWORK.ok("tls", trip.tls or "the endpoint does not use TLS"),
        _http2(trip, needs_http2=needs_http2),
        NETWORK.ok("round trip", f"{millis:.1f} ms for a request and its answer"),
    ]


def _account_finding(trip: Trip) -> Finding:
    if trip.failure is not None:
        return _failure(trip.route, trip.failure)
    seen = f"calls with an ARN go to {trip.route.host}, which answers"
    return NETWORK.ok("endpoint of the account", seen)


def _addresses(trip: Trip) -> str:
    found = [ip_address(it.partition("%")[0]) for it in trip.addresses]
    kinds = {
        "this machine": any(it.is_loopback for it in found),
        "a private address, as of a VPC endpoint": any(
            it.is_private and not it.is_loopback for it in found
        ),
        "a public address": any(not it.is_private for it in found),
    }
    places = " and ".join(kind for kind, is_there in kinds.items() if is_there)
    return f"{trip.route.host} resolves to {', '.join(trip.addresses)}: {places}"


def _http2(trip: Trip, *, needs_http2: bool) -> Finding:
    if trip.is_http2:
        return NETWORK.ok("http/2", "the endpoint speaks HTTP/2")
    use = "which enhanced fan-out needs" if needs_http2 else "which only enhanced fan-out needs"
    if trip.is_http2 is None:
        seen = f"the endpoint did not say whether it speaks HTTP/2, {use}"
        return (NETWORK.unknown if needs_http2 else NETWORK.ok)("http/2", seen)
    seen = f"the endpoint does not speak HTTP/2, {use}"
    if not needs_http2:
        return NETWORK.ok("http/2", seen)
    return NETWORK.problem(
        "http/2",
        seen,
        "A proxy may prevent it. Let the host pass, or set consumerMode=polling.",
    )


def _failure(route: Route, error: Exception) -> Finding:
    """The finding for a trip without an answer."""
    where = f"{route.host}:{route.port}"
    if isinstance(error, ssl.SSLCertVerificationError):
        return NETWORK.problem(
            "tls",
            f"the certificate of {where} is not trusted: {error.verify_message}",
            "If a proxy replaces certificates, add its certificate authority to Java's trust store "
            "and set AWS_CA_BUNDLE for Python. If not, check the endpoint and the clock.",
        )
    if isinstance(error, FileNotFoundError):
        return NETWORK.problem(
            "tls",
            f"the file of certificates {route.certificates} does not exist",
            "Correct AWS_CA_BUNDLE or --ca-bundle, or remove it.",
        )
    if isinstance(error, ssl.SSLError):
        remedy = "Check the endpoint: its port may not speak TLS."
        return NETWORK.problem("tls", f"TLS with {where} failed: {error}", remedy)
    if "Tunnel connection failed" in str(error):
        return NETWORK.problem(
            "proxy",
            f"the proxy {route.proxy_text} refuses {where}: {error}",
            f"Allow {route.host} in the proxy, correct its user and password, or add the host to "
            "NO_PROXY.",
        )
    return _no_connection(route, error)


def _no_connection(route: Route, error: Exception) -> Finding:
    through = "" if route.proxy is None else f" through {route.proxy_text}"
    place = f"{route.host}:{route.port}{through}"
    if isinstance(error, (socket.gaierror, UnicodeError)):
        host = f"host {route.host}" if route.proxy is None else f"proxy {route.proxy_text}"
        return NETWORK.problem(
            "address",
            f"the {host} has no address: {error}",
            "Check the region, the endpoint and the proxy. In a VPC, check its DNS settings. If "
            "only a proxy has access to other networks, set HTTPS_PROXY.",
        )
    if isinstance(error, TimeoutError):
        return NETWORK.problem(
            "connection",
            f"{place} did not answer within {_SECONDS:.0f} s",
            "Check the route to it: in a private subnet, a NAT gateway or a VPC endpoint for "
            "Kinesis; the security group of the VPC endpoint; a proxy that must be set.",
        )
    if isinstance(error, ConnectionRefusedError):
        return NETWORK.problem(
            "connection",
            f"nothing listens on {place}",
            "Check the endpoint. If it is a local Kinesis, start it.",
        )
    remedy = "Check the endpoint, the network and the proxy."
    return NETWORK.problem("connection", f"{place} failed: {error}", remedy)
