"""Can this machine reach the endpoint, and is its clock right?

It sends one request without credentials, as boto3 would send it.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from spark_kinesis import SparkKinesisError
from spark_kinesis._boto import aws_errors, code_of
from spark_kinesis._times import duration_text
from spark_kinesis.tools.facts.files import shown
from spark_kinesis.tools.facts.losses import clock_lead

from .finding import Finding, Section

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .finding import Setup

NETWORK = Section("network")
# AWS refuses a signature whose time differs more: KINESIS_CLOCK_SKEW.
_REFUSED = timedelta(minutes=5)
# A clock that NTP keeps is right to a second, and the service's time is known to a second.
_WRONG = timedelta(seconds=30)
_LEAST = timedelta(seconds=2)  # smaller leads are errors of measurement
_SECONDS = 5
_MILLIS = 1000
_ROUTE = (
    "Check the route to it: in a private subnet, a NAT gateway or a VPC endpoint for Kinesis; the "
    "security group of the VPC endpoint; a proxy that must be set."
)
# What to do, by botocore's name of the error.
_REMEDIES = {
    "SSLError": "If a proxy replaces certificates, add its certificate authority to Java's trust "
    "store, and set AWS_CA_BUNDLE for Python. If not, check the endpoint: its port may not speak "
    "TLS.",
    "ProxyConnectionError": "Allow the host in the proxy, correct HTTPS_PROXY or --proxy, its user "
    "and password, or add the host to NO_PROXY.",
    "ConnectTimeoutError": _ROUTE,
    "ReadTimeoutError": _ROUTE,
    "EndpointConnectionError": "Check the endpoint. If it is a local Kinesis, start it.",
}


def network_check(setup: Setup) -> Iterator[Finding]:
    """The way to the endpoint, and the clock of the service. Needs a region, no credentials."""
    try:
        url = setup.kinesis(setup.stream).meta.endpoint_url
    except SparkKinesisError as error:
        if setup.connection.region is not None:  # else the check of the region has said why
            yield NETWORK.refused("connection", error, "")
        return
    settings = setup.connection.settings
    proxy = None if setup.is_local else settings.proxy or proxy_of_environment(url)
    through = ""
    if proxy is None:
        address = _address(url)
        yield address
        if address.remedy:
            return
    else:
        through = f" through the proxy {shown(proxy)}"
    try:
        seconds, headers = ask(url, proxy, settings.ca_bundle)
    except aws_errors() as error:
        other = "Check the endpoint, HTTPS_PROXY or --proxy, and AWS_CA_BUNDLE."
        remedy = _REMEDIES.get(code_of(error), other)
        yield NETWORK.problem("connection", f"{url}{through} does not answer: {error}", remedy)
        return
    yield NETWORK.ok("connection", f"{url}{through} answers in {seconds * _MILLIS:.0f} ms")
    lead = clock_lead(headers)
    if lead is not None and abs(lead) >= _LEAST:
        setup.lead = lead
    yield clock_finding(lead)


def proxy_of_environment(url: str) -> str | None:
    """The proxy for a URL. ``None`` without one. A proxy of the options needs no such search."""
    from botocore.httpsession import ProxyConfiguration  # noqa: PLC0415 optional
    from botocore.utils import get_environ_proxies  # noqa: PLC0415

    found: str | None = ProxyConfiguration(proxies=get_environ_proxies(url)).proxy_url_for(url)
    return found


def _address(url: str) -> Finding:
    host = urlsplit(url).hostname or ""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        return NETWORK.problem(
            "address",
            f"the host {host} has no address: {error}",
            "Check the region, the endpoint and the proxy. In a VPC, check its DNS settings. If "
            "only a proxy has access to other networks, set HTTPS_PROXY.",
        )
    addresses = list(dict.fromkeys(str(it[4][0]) for it in found))
    return NETWORK.ok("address", f"{host} resolves to {', '.join(addresses)}")


def ask(url: str, proxy: str | None, bundle: str | None) -> tuple[float, Mapping[str, str]]:
    """Send a request, and return the seconds until its answer, and the headers of the answer."""
    from botocore.awsrequest import AWSRequest  # noqa: PLC0415 optional
    from botocore.httpsession import URLLib3Session  # noqa: PLC0415

    certificates: Any = bundle or os.environ.get("AWS_CA_BUNDLE") or True
    proxies = {} if proxy is None else {"http": proxy, "https": proxy}
    session = URLLib3Session(verify=certificates, proxies=proxies, timeout=_SECONDS)
    begun = time.monotonic()
    try:
        answer = session.send(AWSRequest("GET", url).prepare())
    finally:
        session.close()
    return time.monotonic() - begun, dict(answer.headers)


def clock_finding(ahead: timedelta | None) -> Finding:
    """Is the clock of this machine right? The service's is ahead by this time, if it is known."""
    if ahead is None:
        return NETWORK.unknown("clock", "the service did not show its time")
    direction = "behind" if ahead > timedelta() else "ahead of"
    seen = f"the clock of this machine is {duration_text(ahead)} {direction} the service's"
    if abs(ahead) < _WRONG:
        return NETWORK.ok("clock", seen)
    if abs(ahead) >= _REFUSED:
        seen += ". AWS refuses such requests with KINESIS_CLOCK_SKEW"
    remedy = "Set the clock, for example with NTP. AWS refuses requests from five minutes on."
    return NETWORK.problem("clock", seen, remedy)
