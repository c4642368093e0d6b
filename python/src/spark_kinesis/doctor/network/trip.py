"""Goes to an endpoint and back, without credentials. Each step has a time limit."""

from __future__ import annotations

import os
import socket
import ssl
import time
from base64 import b64encode
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from statistics import median
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from .http2 import speaks_http2

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .route import Route

SECONDS = 5.0
_REQUESTS = 3
_PORT_OF_A_PROXY = 80


@dataclass(frozen=True, kw_only=True)
class Trip:
    """What a trip to an endpoint found.

    Attributes:
        route: the way.
        addresses: IP addresses of the host, or those of nothing behind a proxy.
        unresolved: why the host has no address, or ``None``.
        failure: why no answer came, or ``None``.
        tls: version of TLS, or ``None`` without encryption.
        is_http2: whether the endpoint speaks HTTP/2. ``None`` if unknown.
        round_trip: time for a request and its answer, in seconds.
        headers: headers of the last answer.
    """

    route: Route
    addresses: tuple[str, ...] = ()
    unresolved: str | None = None
    failure: Exception | None = None
    tls: str | None = None
    is_http2: bool | None = None
    round_trip: float | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


def travel(route: Route) -> Trip:
    """Resolve the host, connect, and send three empty requests."""
    addresses: tuple[str, ...] = ()
    if route.proxy is None:
        try:
            addresses = _addresses(route)
        except (OSError, UnicodeError) as error:
            return Trip(route=route, unresolved=str(error))
    try:
        times, headers, tls = _ask(route)
    except (OSError, HTTPException) as error:  # ssl.SSLError is an OSError
        return Trip(route=route, addresses=addresses, failure=error)
    return Trip(
        route=route,
        addresses=addresses,
        tls=tls,
        is_http2=_is_http2(route),
        round_trip=median(times),
        headers=headers,
    )


def _addresses(route: Route) -> tuple[str, ...]:
    found = socket.getaddrinfo(route.host, route.port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(it[4][0]) for it in found))


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
    """HTTP/2 is agreed on with TLS. Without TLS, the client begins with it."""
    if not route.is_tls:
        return speaks_http2(route.host, route.port, SECONDS) if route.proxy is None else None
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
        host, port = proxy.hostname or "", proxy.port or _PORT_OF_A_PROXY
    if not route.is_tls:
        return HTTPConnection(host, port, timeout=SECONDS)
    context = ssl.create_default_context(cafile=os.environ.get("AWS_CA_BUNDLE"))
    context.set_alpn_protocols(list(protocols))
    connection = HTTPSConnection(host, port, timeout=SECONDS, context=context)
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
