"""Refusals, and where a call goes."""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError, NoCredentialsError

from spark_kinesis.tools.cli import Connection
from spark_kinesis.tools.examination import State
from spark_kinesis.tools.examination.finding import Setup, region_of
from spark_kinesis.tools.examination.stream import STREAM


def refusal(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": "No."}}, "ListShards")


@pytest.mark.parametrize(
    ("error", "state", "remedy"),
    [
        (refusal("AccessDeniedException"), State.PROBLEM, "Allow kinesis:ListShards"),
        (refusal("ResourceNotFoundException"), State.PROBLEM, "Check the name, the region"),
        (refusal("ExpiredTokenException"), State.PROBLEM, "Renew the credentials"),
        (refusal("InvalidSignatureException"), State.PROBLEM, "the clock"),
        (refusal("KMSAccessDeniedException"), State.PROBLEM, "Allow kms:Decrypt"),
        (refusal("KMSDisabledException"), State.PROBLEM, "usable in AWS KMS"),
        (refusal("InvalidArgumentException"), State.PROBLEM, "Correct the name"),
        (refusal("LimitExceededException"), State.UNKNOWN, "Try again"),
        (refusal("SomethingNew"), State.PROBLEM, "Look up the error"),
        (NoCredentialsError(), State.PROBLEM, "Set credentials"),
        (EndpointConnectionError(endpoint_url="https://x"), State.PROBLEM, "network"),
    ],
)
def test_a_refusal_has_a_remedy(error: Exception, state: State, remedy: str) -> None:
    found = STREAM.refused("shards", error, "kinesis:ListShards")
    assert found.state is state
    assert remedy in found.remedy
    assert found.seen.startswith("kinesis:ListShards failed: ")


def setup(endpoint: str | None) -> Setup:
    return Setup(connection=Connection("doctor", endpoint, "eu-west-1"))


def test_a_client_is_in_the_region_of_the_arn() -> None:
    access = setup("http://127.0.0.1:1")
    arn = "arn:aws:kinesis:us-west-2:123456789012:stream/orders"
    assert access.kinesis(arn).meta.region_name == "us-west-2"
    assert access.kinesis("orders").meta.region_name == "eu-west-1"
    assert region_of("orders") is None


@pytest.mark.parametrize(
    ("endpoint", "is_aws"),
    [
        (None, True),
        ("https://kinesis.eu-west-1.amazonaws.com", True),
        ("https://vpce-1.kinesis.eu-west-1.vpce.amazonaws.com", True),
        ("https://kinesis.eu-west-1.api.aws", True),
        ("http://127.0.0.1:4567", False),
        ("https://amazonaws.com.example.org", False),
    ],
)
def test_other_endpoints_are_not_aws(endpoint: str | None, is_aws: bool) -> None:
    assert setup(endpoint).is_aws is is_aws
