"""The KMS key of a stream, from services made up."""

from __future__ import annotations

from botocore.exceptions import ClientError

from python.tests.doctor.services import service
from spark_kinesis.tools.examination import State
from spark_kinesis.tools.examination.stream import Key, find_key, key_finding

DENIED = ClientError({"Error": {"Code": "AccessDeniedException", "Message": "No."}}, "DescribeKey")


def test_the_state_of_a_key_matters() -> None:
    def described(state: str, manager: str = "CUSTOMER") -> Key:
        metadata = {"Arn": "arn:key", "KeyState": state, "KeyManager": manager}
        return find_key(service("kms", describe_key={"KeyMetadata": metadata}), "alias/mine")

    assert key_finding(described("Enabled")).state is State.OK
    for state in ("Disabled", "PendingDeletion"):
        found = key_finding(described(state))
        assert (found.state, state in found.seen) == (State.PROBLEM, True)
    assert described("Enabled", "AWS").is_of_aws


def test_a_key_that_is_not_described_is_unknown() -> None:
    denied = find_key(service("kms", describe_key=DENIED), "alias/mine")
    assert (denied.arn, key_finding(denied).state) == (None, State.UNKNOWN)
    assert "kms:DescribeKey" in key_finding(denied).remedy
    assert key_finding(find_key(None, "alias/mine")).state is State.UNKNOWN
    assert key_finding(find_key(None, "alias/aws/kinesis")).state is State.OK
