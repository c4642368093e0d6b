"""Region, credentials and clock, with environments made up."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from python.tests.doctor.services import service
from spark_kinesis import CheckpointError
from spark_kinesis.tools import doctor
from spark_kinesis.tools.cli import Connection, connection
from spark_kinesis.tools.examination import Finding, State, access
from spark_kinesis.tools.examination.access import access_check, region_finding
from spark_kinesis.tools.examination.finding import Setup

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from spark_kinesis.tools.facts.files import Store

ARN = "arn:aws:kinesis:us-west-2:123456789012:stream/orders"
SECRET = "a-secret-of-the-test"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without any settings of AWS."""
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    return tmp_path


def setup(
    endpoint: str | None = None, region: str | None = None, stream: str | None = None
) -> Setup:
    return Setup(connection=Connection("doctor", endpoint, region), stream=stream)


def test_regions_are_found_where_the_connector_looks(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found(**given: str) -> tuple[State, str]:
        finding = region_finding(setup(**given))
        assert bool(finding.remedy) == (finding.state is State.PROBLEM)
        return finding.state, finding.seen

    assert found() == (State.PROBLEM, "there is no region")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-north-1")
    state, seen = found()
    assert (state, "only AWS_DEFAULT_REGION is set, to eu-north-1" in seen) == (State.PROBLEM, True)
    monkeypatch.setattr(access, "_of_instance", lambda: "eu-south-1")
    assert found() == (State.OK, "eu-south-1, from the metadata of the instance")
    (home / "config").write_text("[default]\nregion = eu-west-3\n")
    assert found() == (State.OK, "eu-west-3, from the AWS profile")
    monkeypatch.setenv("AWS_REGION", "eu-west-2")
    assert found() == (State.OK, "eu-west-2, from AWS_REGION")
    local = found(endpoint="http://127.0.0.1:1")
    assert local == (State.OK, "us-east-1, from the default of a local endpoint")
    assert found(stream=ARN) == (State.OK, "us-west-2, from the ARN of the stream")
    assert found(stream=ARN, region="us-west-2") == (State.OK, "us-west-2, from the option")
    state, seen = found(stream=ARN, region="eu-west-1")
    assert (state, "the ARN of the stream has us-west-2" in seen) == (State.PROBLEM, True)


def test_the_later_checks_use_the_region_that_was_found(home: Path) -> None:
    (home / "config").write_text("[default]\nregion = eu-west-3\n")
    found = setup()
    list(access_check(found))
    assert found.connection.region == "eu-west-3"


@pytest.mark.parametrize(
    "host",
    [
        "kinesis.eu-west-1.amazonaws.com",
        "kinesis-fips.eu-west-1.amazonaws.com",
        "vpce-0a1b-c2.kinesis.eu-west-1.vpce.amazonaws.com",
        "kinesis.eu-west-1.api.aws",
        "123456789012.control-kinesis.eu-west-1.amazonaws.com",
    ],
)
def test_a_host_of_aws_has_a_region(host: str) -> None:
    seen = region_finding(setup(f"https://{host}")).seen
    if host.startswith("123"):
        assert seen == "there is no region"  # the connector does not know this form
    else:
        assert seen == "eu-west-1, from the host name of the endpoint"


def of(found: Iterable[Finding], subject: str) -> Finding:
    (finding,) = (it for it in found if it.subject == subject)
    return finding


def test_no_credentials_are_a_problem() -> None:
    assert of(access_check(setup(region="eu-west-1")), "credentials").state is State.PROBLEM


def test_credentials_of_the_environment_are_found_and_never_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.setenv(name, SECRET)
    found = list(access_check(setup("http://192.0.2.1:1", "eu-west-1")))
    assert "its provider env" in of(found, "credentials").seen
    assert SECRET not in repr(found)


def test_a_profile_that_cannot_log_in_is_a_problem(home: Path) -> None:
    (home / "config").write_text("[default]\ncredential_process = false\n")
    finding = of(access_check(setup(region="eu-west-1")), "credentials")
    assert (finding.state, "custom-process" in finding.seen) == (State.PROBLEM, True)


def test_an_unknown_profile_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    named = doctor(profile="nobody", region="eu-west-1")
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    for report in (named, doctor(region="eu-west-1")):
        (finding,) = (it for it in report if it.section == "access")
        assert (finding.state, "nobody" in finding.seen) == (State.PROBLEM, True)


def test_a_proxy_without_a_port_number_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://proxy:many")
    report = doctor(region="eu-west-1")
    (finding,) = (it for it in report if it.section == "network")
    assert (finding.state, "https_proxy: no URL" in finding.seen) == (State.PROBLEM, True)


def test_aws_knows_the_caller_or_says_why_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "ID")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)

    def asked(answer: Any) -> Finding:
        sts = service("sts", get_caller_identity=answer)
        monkeypatch.setattr(Setup, "service", lambda *_: sts)
        return of(access_check(setup(region="eu-west-1")), "identity")

    role = "arn:aws:sts::123456789012:assumed-role/reader/i-1"
    found = asked({"Arn": role})
    assert (found.state, role in found.seen) == (State.OK, True)
    refusal = ClientError(
        {"Error": {"Code": "InvalidClientTokenId", "Message": "No."}}, "GetCallerIdentity"
    )
    found = asked(refusal)
    assert (found.state, "access key" in found.remedy) == (State.PROBLEM, True)
    assert asked(EndpointConnectionError(endpoint_url="https://sts")).state is State.UNKNOWN


def test_a_checkpoint_in_s3_is_read_as_the_profile(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secrets = f"aws_access_key_id = ID\naws_secret_access_key = {SECRET}\n"
    (home / "credentials").write_text(f"[reader]\n{secrets}[broken]\n")
    (home / "config").write_text("[profile broken]\ncredential_process = false\n")
    opened: list[Any] = []

    def refuse(_: str, store: Store) -> None:
        session = boto3.Session(profile_name=store.profile)
        opened.append((session.get_credentials().access_key, dict(store.options)))
        raise CheckpointError("no bucket")

    def log(profile: str) -> Finding:
        report = doctor(
            endpoint="http://127.0.0.1:1",
            checkpoint="s3a://bucket/orders",
            region="eu-west-1",
            profile=profile,
            storage={"endpoint_url": "http://127.0.0.1:1"},
        )
        (found,) = (it for it in report if it.section == "checkpoint")
        return found

    assert "custom-process" in log("broken").seen
    monkeypatch.setattr(connection, "open_files", refuse)
    assert "no bucket" in log("reader").seen
    assert opened == [("ID", {"endpoint_url": "http://127.0.0.1:1"})]


def test_without_boto3_the_software_is_examined(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("boto3", "botocore", "botocore.exceptions"):
        monkeypatch.setitem(sys.modules, name, None)
    report = doctor("orders", checkpoint="s3://bucket/orders", region="eu-west-1")
    seen = of(report, "credentials").seen
    assert seen == "spark-kinesis doctor needs boto3: pip install boto3"
    assert "software" in {it.section for it in report}
