"""Region, credentials and clock, with environments made up."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from spark_kinesis import CheckpointError
from spark_kinesis.doctor import Finding, State, examine
from spark_kinesis.doctor.aws import Access
from spark_kinesis.doctor.checks.checkpoint import checkpoint_check
from spark_kinesis.doctor.identity import (
    CredentialFacts,
    RegionFacts,
    credential_findings,
    find_credentials,
    find_region,
    region_finding,
    skew_finding,
)

if TYPE_CHECKING:
    from pathlib import Path

    from spark_kinesis.tools.facts.files import Store
from spark_kinesis.doctor.question import Question

NOW = datetime(2026, 1, 2, 12, tzinfo=timezone.utc)
ARN = "arn:aws:kinesis:us-west-2:123456789012:stream/orders"
SECRET = "a-secret-of-the-test"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without any settings of AWS."""
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_CREDENTIAL_EXPIRATION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    return tmp_path


@pytest.mark.parametrize(
    ("facts", "state", "text"),
    [
        (RegionFacts(), State.PROBLEM, "there is no region"),
        (RegionFacts(default_variable="r"), State.PROBLEM, "AWS_DEFAULT_REGION"),
        (RegionFacts(option="a", arn="b"), State.PROBLEM, "the ARN of the stream has b"),
        (RegionFacts(option="a", arn="a"), State.OK, "a, from the option"),
        (RegionFacts(arn="b", variable="c"), State.OK, "b, from the ARN of the stream"),
        (RegionFacts(variable="c", profile="d"), State.OK, "c, from AWS_REGION"),
        (RegionFacts(profile="d", default_variable="r"), State.OK, "d, from the AWS profile"),
        (RegionFacts(instance="e"), State.OK, "e, from the metadata of the instance"),
        (RegionFacts(is_local=True, variable="c"), State.OK, "us-east-1"),
    ],
)
def test_the_first_region_wins(facts: RegionFacts, state: State, text: str) -> None:
    found = region_finding(facts)
    assert (found.state, text in found.seen) == (state, True)


def test_regions_are_found_where_the_connector_looks(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert find_region(Access(), None).found is None
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-north-1")
    assert find_region(Access(), None).found is None
    assert find_region(Access(), None).default_variable == "eu-north-1"
    (home / "config").write_text("[default]\nregion = eu-west-3\n")
    assert find_region(Access(), None).found == ("eu-west-3", "the AWS profile")
    monkeypatch.setenv("AWS_REGION", "eu-west-2")
    assert find_region(Access(), None).found == ("eu-west-2", "AWS_REGION")
    assert find_region(Access(), ARN).found == ("us-west-2", "the ARN of the stream")


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
    region = find_region(Access(endpoint=f"https://{host}"), None).found
    if host.startswith("123"):
        assert region is None  # the connector does not know this form
    else:
        assert region == ("eu-west-1", "the host name of the endpoint")


def of(facts: CredentialFacts, subject: str) -> Finding:
    (found,) = (it for it in credential_findings(facts, NOW) if it.subject == subject)
    return found


def test_no_credentials_are_a_problem() -> None:
    assert find_credentials(Access(region="eu-west-1")) == CredentialFacts()
    assert of(CredentialFacts(), "credentials").state is State.PROBLEM


def test_credentials_of_the_environment_are_found_and_never_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.setenv(name, SECRET)
    monkeypatch.setenv("AWS_CREDENTIAL_EXPIRATION", "2099-01-01T00:00:00Z")
    found = find_credentials(Access(endpoint="http://192.0.2.1:1", region="eu-west-1"))
    assert (found.provider, found.is_temporary) == ("env", True)
    assert found.expires == datetime(2099, 1, 1, tzinfo=timezone.utc)
    assert SECRET not in repr(found)
    assert "environment variables" in of(found, "credentials").seen


def test_a_profile_that_cannot_log_in_is_a_problem(home: Path) -> None:
    (home / "config").write_text("[default]\ncredential_process = false\n")
    found = find_credentials(Access(region="eu-west-1"))
    finding = of(found, "credentials")
    assert (finding.state, "custom-process" in finding.seen) == (State.PROBLEM, True)


def test_an_unknown_profile_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    named = examine(profile="nobody", region="eu-west-1")
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    for report in (named, examine(region="eu-west-1")):
        (finding,) = (it for it in report if it.section == "access")
        assert (finding.state, "nobody" in finding.seen) == (State.PROBLEM, True)


def test_a_proxy_without_a_port_number_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://proxy:many")
    report = examine(region="eu-west-1")
    (finding,) = (it for it in report if it.section == "network")
    assert (finding.state, "HTTPS_PROXY" in finding.remedy) == (State.PROBLEM, True)


def test_sections_are_together() -> None:
    sections = [it.section for it in examine(endpoint="http://127.0.0.1:1")]
    assert sections == sorted(sections, key=["software", "access", "network"].index)


@pytest.mark.parametrize(
    ("provider", "left", "state", "text"),
    [
        ("env", None, State.UNKNOWN, "do not say when"),
        ("env", timedelta(hours=2), State.OK, "valid for 2 h"),
        ("iam-role", timedelta(hours=2), State.OK, "valid for 2 h, and are renewed"),
        ("sso", timedelta(minutes=-5), State.PROBLEM, "expired 5 min ago"),
    ],
)
def test_temporary_credentials_expire(
    provider: str, left: timedelta | None, state: State, text: str
) -> None:
    expires = None if left is None else NOW + left
    found = of(CredentialFacts(provider=provider, is_temporary=True, expires=expires), "expiry")
    assert (found.state, text in found.seen) == (state, True)


def test_aws_knows_the_caller_or_says_why_not() -> None:
    role = "arn:aws:sts::123456789012:assumed-role/reader/i-1"
    assert role in of(CredentialFacts(provider="env", identity=role), "identity").seen
    refusal = ClientError(
        {"Error": {"Code": "InvalidClientTokenId", "Message": "No."}}, "GetCallerIdentity"
    )
    found = of(CredentialFacts(provider="env", refusal=refusal), "identity")
    assert (found.state, "access key" in found.remedy) == (State.PROBLEM, True)
    away = EndpointConnectionError(endpoint_url="https://sts")
    found = of(CredentialFacts(provider="env", refusal=away), "identity")
    assert found.state is State.UNKNOWN


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
    found = skew_finding(None if seconds is None else timedelta(seconds=seconds))
    assert (found.state, text in found.seen) == (state, True)


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

    def examine(profile: str) -> Finding:
        storage = {"endpoint_url": "http://127.0.0.1:1"}
        access = Access(region="eu-west-1", profile=profile, storage=storage)
        question = Question(access=access, checkpoint="s3a://bucket/orders")
        (log,) = checkpoint_check(question, print)
        return log

    assert "custom-process" in examine("broken").seen
    monkeypatch.setattr("spark_kinesis.doctor.checks.checkpoint.open_files", refuse)
    assert "no bucket" in examine("reader").seen
    assert opened == [("ID", {"endpoint_url": "http://127.0.0.1:1"})]
