"""The way to an endpoint, with real servers on this machine."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import pytest

from python.tests.doctor.servers import Proxy, Quiet, certified, serving
from spark_kinesis._boto import CallSettings
from spark_kinesis.tools import doctor
from spark_kinesis.tools.cli import Connection
from spark_kinesis.tools.examination import Finding, State, network
from spark_kinesis.tools.examination.network import (
    Route,
    Trip,
    account_urls,
    network_check,
    route_to,
    travel,
    trip_findings,
)
from spark_kinesis.tools.examination.setup import Setup

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

AWS = route_to("https://kinesis.eu-west-1.amazonaws.com", is_local=True)


NOWHERE = socket.gaierror("unknown")


def of(trip: Trip, subject: str, *, needs_http2: bool = False) -> Finding:
    findings = trip_findings(trip, needs_http2=needs_http2)
    (found,) = (it for it in findings if it.subject == subject)
    return found


@pytest.fixture
def trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Route]:
    """The way to a server with TLS and HTTP/2 whose certificate is trusted."""
    with serving(Quiet, certified(tmp_path, "h2", "http/1.1")) as port:
        monkeypatch.setenv("AWS_CA_BUNDLE", str(tmp_path / "server.pem"))
        yield route_to(f"https://127.0.0.1:{port}", is_local=True)


def test_an_endpoint_with_tls_and_http2_is_good(trusted: Route) -> None:
    trip = travel(trusted)
    assert {it.state for it in trip_findings(trip, needs_http2=True)} == {State.OK}
    assert of(trip, "tls").seen.startswith("TLSv1.")
    assert trip.is_http2
    assert "Date" in trip.headers


def test_a_certificate_that_is_not_trusted_is_a_problem(
    trusted: Route, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_CA_BUNDLE")
    found = of(travel(route_to(trusted.url, is_local=True)), "tls")
    assert (found.state, "trust store" in found.remedy) == (State.PROBLEM, True)


def test_an_endpoint_without_http2_matters_to_fan_out_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(Quiet, certified(tmp_path, "http/1.1")) as port:
        monkeypatch.setenv("AWS_CA_BUNDLE", str(tmp_path / "server.pem"))
        trip = travel(route_to(f"https://127.0.0.1:{port}", is_local=True))
    assert of(trip, "http/2").state is State.OK
    assert of(trip, "http/2", needs_http2=True).state is State.PROBLEM


def test_a_port_without_tls_is_a_problem() -> None:
    with serving(Quiet) as port:
        found = of(travel(route_to(f"https://127.0.0.1:{port}", is_local=True)), "tls")
    assert (found.state, "may not speak TLS" in found.remedy) == (State.PROBLEM, True)


def through(trusted: Route, proxy: str, monkeypatch: pytest.MonkeyPatch) -> Route:
    monkeypatch.setenv("https_proxy", proxy)
    monkeypatch.setenv("no_proxy", "")
    return route_to(trusted.url, is_local=False)


def test_a_proxy_is_used_and_its_password_hidden(
    trusted: Route, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(Proxy) as port:
        trip = travel(through(trusted, f"http://user:pass@127.0.0.1:{port}", monkeypatch))
    assert of(trip, "proxy").seen == f"requests go through http://127.0.0.1:{port}"
    assert (trip.failure, trip.is_http2, trip.addresses) == (None, True, ())


def test_a_proxy_that_refuses_is_a_problem(trusted: Route, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(Proxy) as port:
        trip = travel(through(trusted, f"127.0.0.1:{port}", monkeypatch))
    _, used, refused = trip_findings(trip, needs_http2=False)
    assert (used.state, refused.state) == (State.OK, State.PROBLEM)
    assert "NO_PROXY" in refused.remedy


def test_hosts_of_no_proxy_are_reached_directly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:1")
    monkeypatch.setenv("no_proxy", ".amazonaws.com")
    assert route_to(AWS.url, is_local=False).proxy is None
    monkeypatch.setenv("no_proxy", "")
    assert route_to(AWS.url, is_local=False).proxy == "http://127.0.0.1:1"
    assert route_to(AWS.url, is_local=True).proxy is None


def test_a_proxy_of_the_settings_is_used_for_hosts_of_no_proxy_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("no_proxy", ".amazonaws.com")
    assert route_to(AWS.url, CallSettings(proxy="http://p:1")).proxy == "http://p:1"


def test_a_host_without_an_address_is_a_problem() -> None:
    found = of(travel(route_to("https://kinesis.nowhere.invalid", is_local=True)), "address")
    assert (found.state, "has no address" in found.seen) == (State.PROBLEM, True)


def test_a_proxy_without_an_address_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://user:pass@proxy.invalid:8080")
    monkeypatch.setenv("no_proxy", "")
    found = of(travel(route_to(AWS.url)), "address")
    assert found.seen.startswith("the proxy http://proxy.invalid:8080 has no address")


@pytest.mark.parametrize(
    ("url", "hosts"),
    [
        (
            "https://kinesis.eu-west-1.amazonaws.com",
            [
                f"123456789012.{kind}-kinesis.eu-west-1.amazonaws.com"
                for kind in ("control", "data")
            ],
        ),
        (
            "https://kinesis-fips.us-east-1.api.aws",
            [f"123456789012.{kind}-kinesis-fips.us-east-1.api.aws" for kind in ("control", "data")],
        ),
        ("https://vpce-1.kinesis.eu-west-1.vpce.amazonaws.com", []),
        ("http://127.0.0.1:4567", []),
    ],
)
def test_the_endpoints_of_an_account(url: str, hosts: list[str]) -> None:
    assert account_urls(url, "123456789012") == [f"https://{host}" for host in hosts]


@pytest.mark.parametrize(
    ("stream", "consumer", "account"),
    [
        ("orders", None, None),
        ("arn:aws:kinesis:eu-west-1:111111111111:stream/orders", None, "111111111111"),
        ("orders", "reports", "222222222222"),
        (
            "orders",
            "arn:aws:kinesis:eu-west-1:333333333333:stream/orders/consumer/reports:1",
            "333333333333",
        ),
    ],
)
def test_the_endpoints_of_the_account_are_checked_if_calls_go_there(
    stream: str, consumer: str | None, account: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(network, "travel", lambda route: Trip(route=route, failure=NOWHERE))
    setup = Setup(
        connection=Connection("doctor", region="eu-west-1"),
        stream=stream,
        consumer=consumer,
        identity="arn:aws:sts::222222222222:assumed-role/reader/me",
    )
    findings = network_check(setup)
    hosts = [it.seen.split()[2] for it in findings if it.subject == "address"]
    of_account = [f"{account}.{kind}-kinesis" for kind in ("control", "data")]
    names = ["kinesis", *(of_account if account else [])]
    assert hosts == [f"{name}.eu-west-1.amazonaws.com" for name in names]


def test_a_file_of_certificates_that_is_missing_is_a_problem(
    trusted: Route, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_CA_BUNDLE", "/nowhere.pem")
    found = of(travel(route_to(trusted.url, is_local=True)), "tls")
    assert (found.state, "AWS_CA_BUNDLE" in found.remedy) == (State.PROBLEM, True)
    assert "/nowhere.pem" in found.seen


def test_silence_and_refusals_are_problems() -> None:
    silent = of(Trip(route=AWS, failure=TimeoutError()), "connection")
    assert (silent.state, "VPC endpoint" in silent.remedy) == (State.PROBLEM, True)
    closed = of(travel(route_to("http://127.0.0.1:1", is_local=True)), "connection")
    assert (closed.state, "nothing listens" in closed.seen) == (State.PROBLEM, True)
    other = of(Trip(route=AWS, failure=OSError("No route to host")), "connection")
    assert (other.state, "No route to host" in other.seen) == (State.PROBLEM, True)


@pytest.mark.parametrize(
    ("addresses", "place"),
    [
        (("127.0.0.1",), "this machine"),
        (("10.1.2.3", "10.1.2.4"), "a private address, as of a VPC endpoint"),
        (("3.5.6.7",), "a public address"),
        (("fd00::1",), "a private address, as of a VPC endpoint"),
    ],
)
def test_addresses_are_public_or_private(addresses: tuple[str, ...], place: str) -> None:
    found = of(Trip(route=AWS, addresses=addresses, round_trip=0.0123), "address")
    assert found.seen.endswith(f"{', '.join(addresses)}: {place}")


def test_the_round_trip_is_in_milliseconds() -> None:
    found = of(Trip(route=AWS, round_trip=0.0123), "round trip")
    assert found.seen == "12.3 ms for a request and its answer"


def test_an_endpoint_without_tls_does_not_say_whether_it_speaks_http2() -> None:
    with serving(Quiet) as port:
        trip = travel(route_to(f"http://127.0.0.1:{port}", is_local=True))
    assert of(trip, "http/2").state is State.OK
    assert of(trip, "http/2", needs_http2=True).state is State.UNKNOWN


def test_proxy_and_certificates_of_the_call_are_used(
    trusted: Route, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_CA_BUNDLE")
    monkeypatch.setenv("no_proxy", "")
    bundle = str(tmp_path / "server.pem")
    with serving(Proxy) as port:
        settings = CallSettings(proxy=f"http://user:pass@127.0.0.1:{port}", ca_bundle=bundle)
        trip = travel(route_to(trusted.url, settings))
    assert trip.failure is None
    assert of(trip, "proxy").seen == f"requests go through http://127.0.0.1:{port}"
    report = doctor(endpoint=trusted.url, settings=CallSettings(ca_bundle=bundle))
    assert {it.state for it in report if it.section == "network"} == {State.OK}
