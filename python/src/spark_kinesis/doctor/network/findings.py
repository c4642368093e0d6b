"""What a trip to the endpoint means. Makes no calls."""

from __future__ import annotations

import ssl
from ipaddress import ip_address
from typing import TYPE_CHECKING

from spark_kinesis.doctor.finding import Finding, ok, problem, unknown

from .trip import SECONDS

if TYPE_CHECKING:
    from .trip import Trip

SECTION = "network"
_MILLIS = 1000


def network_findings(trip: Trip, *, needs_http2: bool) -> list[Finding]:
    """Endpoint, proxy, addresses, TLS, HTTP/2 and round trip.

    Args:
        trip: what a trip found.
        needs_http2: whether the query has a consumer of enhanced fan-out.
    """
    route = trip.route
    findings = [ok(SECTION, "endpoint", route.url)]
    if route.proxy is not None:
        findings.append(ok(SECTION, "proxy", f"requests go through {route.proxy_text}"))
    if trip.unresolved is not None:
        return [*findings, _unresolved(trip)]
    if trip.addresses:
        findings.append(ok(SECTION, "address", _addresses(trip)))
    if trip.failure is not None:
        return [*findings, failure_finding(trip, trip.failure)]
    findings.append(_tls(trip))
    findings.append(_http2(trip, needs_http2=needs_http2))
    millis = (trip.round_trip or 0) * _MILLIS
    return [*findings, ok(SECTION, "round trip", f"{millis:.1f} ms for a request and its answer")]


def account_finding(trip: Trip) -> Finding:
    """The finding about an endpoint of an account."""
    if trip.unresolved is not None:
        return _unresolved(trip)
    if trip.failure is not None:
        return failure_finding(trip, trip.failure)
    seen = f"{trip.route.host} answers, which calls with an ARN go to"
    return ok(SECTION, "endpoint of the account", seen)


def _unresolved(trip: Trip) -> Finding:
    return problem(
        SECTION,
        "address",
        f"the host {trip.route.host} has no address: {trip.unresolved}",
        "Check the region and the endpoint. In a VPC, check its DNS settings. If only a proxy has "
        "access to other networks, set HTTPS_PROXY.",
    )


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


def failure_finding(trip: Trip, error: Exception) -> Finding:
    """The finding for a trip without an answer."""
    where = f"{trip.route.host}:{trip.route.port}"
    if isinstance(error, ssl.SSLCertVerificationError):
        return problem(
            SECTION,
            "tls",
            f"the certificate of {where} is not trusted: {error.verify_message}",
            "If a proxy replaces certificates, add its certificate authority to Java's trust store "
            "and set AWS_CA_BUNDLE for Python. If not, check the endpoint and the clock.",
        )
    if isinstance(error, FileNotFoundError):
        return problem(
            SECTION,
            "tls",
            "the file that AWS_CA_BUNDLE names does not exist",
            "Correct AWS_CA_BUNDLE, or remove it.",
        )
    if isinstance(error, ssl.SSLError):
        remedy = "Check the endpoint: its port may not speak TLS."
        return problem(SECTION, "tls", f"TLS with {where} failed: {error}", remedy)
    if "Tunnel connection failed" in str(error):
        return problem(
            SECTION,
            "proxy",
            f"the proxy {trip.route.proxy_text} refuses {where}: {error}",
            f"Allow {trip.route.host} in the proxy, correct its user and password, or add the host "
            "to NO_PROXY.",
        )
    return _no_connection(trip, error, where)


def _no_connection(trip: Trip, error: Exception, where: str) -> Finding:
    through = "" if trip.route.proxy is None else f" through {trip.route.proxy_text}"
    if isinstance(error, TimeoutError):
        return problem(
            SECTION,
            "connection",
            f"{where}{through} did not answer within {SECONDS:.0f} s",
            "Check the route to it: in a private subnet, a NAT gateway or a VPC endpoint for "
            "Kinesis; the security group of the VPC endpoint; a proxy that must be set.",
        )
    if isinstance(error, ConnectionRefusedError):
        return problem(
            SECTION,
            "connection",
            f"nothing listens on {where}{through}",
            "Check the endpoint. If it is a local Kinesis, start it.",
        )
    remedy = "Check the endpoint, the network and the proxy."
    return problem(SECTION, "connection", f"{where}{through} failed: {error}", remedy)


def _tls(trip: Trip) -> Finding:
    return ok(SECTION, "tls", "the endpoint does not use TLS" if trip.tls is None else trip.tls)


def _http2(trip: Trip, *, needs_http2: bool) -> Finding:
    if trip.is_http2:
        return ok(SECTION, "http/2", "the endpoint speaks HTTP/2")
    if trip.is_http2 is None:
        return unknown(SECTION, "http/2", "the endpoint did not say whether it speaks HTTP/2")
    if not needs_http2:
        seen = "the endpoint does not speak HTTP/2, which only enhanced fan-out needs"
        return ok(SECTION, "http/2", seen)
    return problem(
        SECTION,
        "http/2",
        "the endpoint does not speak HTTP/2, which enhanced fan-out needs",
        "A proxy may prevent it. Let the host pass, or set consumerMode=polling.",
    )
