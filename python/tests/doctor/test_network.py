"""The way to an endpoint, with real servers on this machine."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from botocore.exceptions import ConnectTimeoutError

from python.tests.doctor.servers import Proxy, Quiet, certified, serving
from spark_kinesis import SparkKinesisError
from spark_kinesis._boto import CallSettings
from spark_kinesis.tools.cli import Connection
from spark_kinesis.tools.examination import Finding, State, network
from spark_kinesis.tools.examination.finding import Setup
from spark_kinesis.tools.examination.network import (
    clock_finding,
    network_check,
    proxy_of_environment,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

AWS = "https://kinesis.eu-west-1.amazonaws.com"
DIRECT = CallSettings()


def found(url: str, settings: CallSettings = DIRECT) -> list[Finding]:
    connection = Connection("doctor", url, "eu-west-1", settings=settings)
    return list(network_check(Setup(connection=connection)))


@pytest.fixture
def trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The URL of a server with TLS whose certificate is trusted."""
    with serving(Quiet, certified(tmp_path, "http/1.1")) as port:
        monkeypatch.setenv("AWS_CA_BUNDLE", str(tmp_path / "server.pem"))
        yield f"https://127.0.0.1:{port}"


def test_an_endpoint_that_answers_is_good(trusted: str) -> None:
    address, connection, clock = found(trusted)
    assert {address.state, connection.state, clock.state} == {State.OK}
    assert address.seen == "127.0.0.1 resolves to 127.0.0.1"
    assert connection.seen.endswith(" ms")


def problem(findings: list[Finding]) -> Finding:
    *_, last = findings
    assert last.state is State.PROBLEM
    return last


def test_a_certificate_that_is_not_trusted_is_a_problem(
    trusted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_CA_BUNDLE")
    assert "trust store" in problem(found(trusted)).remedy
    monkeypatch.setenv("AWS_CA_BUNDLE", "/nowhere.pem")
    assert "AWS_CA_BUNDLE" in problem(found(trusted)).remedy


def test_a_port_without_tls_is_a_problem() -> None:
    with serving(Quiet) as port:
        assert "may not speak TLS" in problem(found(f"https://127.0.0.1:{port}")).remedy


@pytest.fixture
def proxied(trusted: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The URL, as if it was not on this machine: else there is no proxy."""
    monkeypatch.setattr(Setup, "is_local", False)
    monkeypatch.setenv("no_proxy", "")
    return trusted


def test_a_proxy_is_used_and_its_password_hidden(
    proxied: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(Proxy) as port:
        proxy = f"http://user:pass@127.0.0.1:{port}"
        monkeypatch.setenv("https_proxy", proxy)
        by_environment, _ = found(proxied)
        monkeypatch.delenv("https_proxy")
        by_settings, _ = found(proxied, CallSettings(proxy=proxy))
    for it in (by_environment, by_settings):
        assert (it.state, "through the proxy http://***@127.0.0.1" in it.seen) == (State.OK, True)


def test_a_proxy_that_refuses_is_a_problem(proxied: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(Proxy) as port:
        monkeypatch.setenv("https_proxy", f"user:wrong@127.0.0.1:{port}")
        refused = problem(found(proxied))
    assert "NO_PROXY" in refused.remedy
    assert "wrong" not in refused.seen


@pytest.mark.parametrize(
    "proxy",
    [
        "http://user:hidden@proxy:many",
        "http://user:hidden#1@proxy:1",
        "http://user:hidden/1@proxy:1",
        "http://user:1/hidden@proxy:1",
        "http://user:1?hidden@proxy:1",
    ],
)
def test_a_wrong_url_of_a_proxy_is_refused_without_its_password(
    proxy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("https_proxy", proxy)
    wrong = problem(found("https://kinesis.example.org"))
    assert wrong.seen.startswith("https_proxy: no URL such as")
    assert "hidden" not in wrong.seen
    with pytest.raises(SparkKinesisError, match="--proxy: no URL such as") as refused:
        CallSettings(proxy=proxy)
    assert "hidden" not in str(refused.value)


def test_hosts_of_no_proxy_are_reached_directly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:1")
    monkeypatch.setenv("no_proxy", ".amazonaws.com")
    assert proxy_of_environment(AWS) is None
    monkeypatch.setenv("no_proxy", "")
    assert proxy_of_environment(AWS) == "http://127.0.0.1:1"


def test_certificates_of_the_call_are_used(
    trusted: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_CA_BUNDLE")
    findings = found(trusted, CallSettings(ca_bundle=str(tmp_path / "server.pem")))
    assert {it.state for it in findings} == {State.OK}


def test_a_host_without_an_address_is_a_problem() -> None:
    (address,) = found("https://kinesis.nowhere.invalid")
    assert (address.state, "has no address" in address.seen) == (State.PROBLEM, True)


def test_silence_and_refusals_are_problems(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "start it" in problem(found("http://127.0.0.1:1")).remedy

    def silent(*_: object) -> None:
        raise ConnectTimeoutError(endpoint_url=AWS)

    monkeypatch.setattr(network, "ask", silent)
    assert "VPC endpoint" in problem(found("http://127.0.0.1:1")).remedy


@pytest.mark.parametrize(
    ("seconds", "state", "text"),
    [
        (None, State.UNKNOWN, "did not show"),
        (0.5, State.OK, "behind the service's"),
        (-2, State.OK, "2 s ahead of the service's"),
        (-60, State.PROBLEM, "1 min ahead of"),
        (301, State.PROBLEM, "KINESIS_CLOCK_SKEW"),
    ],
)
def test_a_wrong_clock_is_a_problem(seconds: float | None, state: State, text: str) -> None:
    it = clock_finding(None if seconds is None else timedelta(seconds=seconds))
    assert (it.state, text in it.seen) == (state, True)
