"""Evidence for permissions, from services made up."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from botocore.exceptions import ClientError

from python.tests.doctor.services import service
from spark_kinesis.tools.cli import Connection
from spark_kinesis.tools.examination import Finding, State
from spark_kinesis.tools.examination.finding import Setup
from spark_kinesis.tools.examination.permissions import (
    ACTIONS,
    call_harmlessly,
    permission_check,
    uses_of,
)
from spark_kinesis.tools.facts.streams import StreamSummary

ARN = "arn:aws:kinesis:eu-west-1:123456789012:stream/orders"
SUMMARY = StreamSummary(
    name="orders",
    arn=ARN,
    status="ACTIVE",
    created=datetime(2026, 1, 1, tzinfo=timezone.utc),
    mode="PROVISIONED",
    retention=timedelta(days=1),
    open_shards=1,
    key="alias/mine",
)
GOOD = {
    "list_shards": {"Shards": []},
    "get_shard_iterator": {"ShardIterator": "i"},
    "get_records": {"Records": []},
}


def refusal(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": "No."}}, "Any")


def allowed(**answers: Any) -> dict[str, bool | None]:
    """What calls prove about each action."""
    client = service("kinesis", **{**GOOD, **answers})
    consumer = "reports" if "describe_stream_consumer" in answers else None
    found = call_harmlessly(client, ARN, "s", consumer, ACTIONS)
    return {name.partition(":")[2]: is_allowed for name, (is_allowed, _) in found.items()}


def test_calls_that_succeed_prove_a_permission() -> None:
    assert allowed() == {
        "DescribeStreamSummary": True,
        "ListShards": True,
        "GetShardIterator": True,
        "GetRecords": True,
    }
    encrypted = {"Records": [{"EncryptionType": "KMS"}]}
    assert allowed(get_records=encrypted)["Decrypt"] is True


def test_a_thing_that_does_not_exist_proves_the_permission_to_ask() -> None:
    gone = refusal("ResourceNotFoundException")
    assert allowed(describe_stream_consumer=gone)["DescribeStreamConsumer"] is True
    # No shard was known, so there is no iterator to read with.
    assert "GetRecords" not in allowed(get_shard_iterator=gone)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("AccessDeniedException", {"GetRecords": False}),
        ("ProvisionedThroughputExceededException", {"GetRecords": None}),
        ("KMSAccessDeniedException", {"GetRecords": True, "Decrypt": False}),
        ("KMSDisabledException", {"GetRecords": True, "Decrypt": False}),
        ("KMSThrottlingException", {"GetRecords": True, "Decrypt": None}),
    ],
)
def test_a_refused_read_shows_which_permission_is_missing(
    code: str, expected: dict[str, bool | None]
) -> None:
    found = allowed(get_records=refusal(code))
    assert {name: found.get(name) for name in expected} == expected


def test_a_denied_listing_does_not_hide_the_rest() -> None:
    found = allowed(list_shards=refusal("AccessDeniedException"))
    assert (found["ListShards"], found["GetRecords"]) == (False, True)


def checked(
    monkeypatch: pytest.MonkeyPatch, *uses: str, key: str | None = "alias/mine", **answers: Any
) -> dict[str, Finding]:
    client = service("kinesis", **{**GOOD, **answers})
    monkeypatch.setattr(Setup, "kinesis", lambda *_: client)
    setup = Setup(
        connection=Connection("doctor", endpoint="http://127.0.0.1:1"),
        stream="orders",
        uses=uses,
        summary=replace(SUMMARY, key=key),
    )
    return {it.subject: it for it in permission_check(setup)}


def test_a_missing_permission_is_a_problem_for_its_use_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    denied = refusal("AccessDeniedException")
    found = checked(monkeypatch, "read", get_records=denied)["kinesis:GetRecords"]
    assert found.state is State.PROBLEM
    assert "Allow kinesis:GetRecords in the policy" in found.remedy
    assert "kinesis:GetRecords" not in checked(monkeypatch, "write", get_records=denied)


def test_what_cannot_be_proved_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    busy = refusal("ProvisionedThroughputExceededException")
    found = checked(monkeypatch, "read", "write", get_records=busy)
    writes = found["kinesis:PutRecords"]
    assert (writes.state, "simulate-principal-policy" in writes.remedy) == (State.UNKNOWN, True)
    reads = found["kinesis:GetRecords"]
    assert (reads.state, "Throughput" in reads.seen) == (State.UNKNOWN, True)
    assert "no encrypted record" in found["kms:Decrypt"].seen


def test_only_a_key_of_the_customer_needs_permissions(monkeypatch: pytest.MonkeyPatch) -> None:
    denied = refusal("KMSAccessDeniedException")
    decrypt = checked(monkeypatch, "read", get_records=denied)["kms:Decrypt"]
    assert (decrypt.state, "policy of the key" in decrypt.remedy) == (State.PROBLEM, True)
    for key in (None, "alias/aws/kinesis"):
        assert "kms:Decrypt" not in checked(monkeypatch, "read", key=key)


def test_uses_include_others() -> None:
    assert uses_of(["read"], has_consumer=False) == {"read"}
    assert uses_of(["exactly-once"], has_consumer=False) == {"exactly-once", "write"}
    assert uses_of(["write"], has_consumer=True) == {"read", "fan-out", "write"}
    with pytest.raises(ValueError, match="reed"):
        uses_of(["reed"], has_consumer=False)
