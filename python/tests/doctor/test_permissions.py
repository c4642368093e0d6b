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
from spark_kinesis.tools.examination.permissions import (
    ACTIONS,
    Use,
    permission_check,
    permission_findings,
    uses_of,
)
from spark_kinesis.tools.examination.proofs import (
    Outcome,
    call_harmlessly,
    principal_of,
    simulate,
)
from spark_kinesis.tools.examination.setup import Setup
from spark_kinesis.tools.examination.stream import Key, Seen
from spark_kinesis.tools.facts.streams import StreamSummary

ARN = "arn:aws:kinesis:eu-west-1:123456789012:stream/orders"
ROLE = "arn:aws:sts::123456789012:assumed-role/reader/i-1"
SEEN = Seen(
    summary=StreamSummary(
        name="orders",
        arn=ARN,
        status="ACTIVE",
        created=datetime(2026, 1, 1, tzinfo=timezone.utc),
        mode="PROVISIONED",
        retention=timedelta(days=1),
        open_shards=1,
        consumers=0,
        key="alias/mine",
        shard_metrics=(),
    ),
    shards=(),
    consumers=(),
)
DENIED = Outcome(is_allowed=False, text="AccessDeniedException: No.")
ALLOWED = Outcome(is_allowed=True, text="allowed")


def refusal(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": "No."}}, "Any")


def of(name: str, *uses: Use, **evidence: Any) -> Finding:
    nothing: dict[str, Any] = {"calls": {}, "simulated": {}, "needless": {}}
    nothing["unsimulated"] = "AccessDenied"
    findings = list(permission_findings(set(uses), **{**nothing, **evidence}))
    assert [it.subject for it in findings] == [it.name for it in ACTIONS]
    (found,) = (it for it in findings if it.subject == name)
    return found


GOOD = {"get_shard_iterator": {"ShardIterator": "i"}, "get_records": {"Records": []}}


def outcomes(**answers: Any) -> dict[str, Outcome]:
    client = service("kinesis", **{**GOOD, **answers})
    return call_harmlessly(
        client, SEEN, "reports" if "describe_stream_consumer" in answers else None
    )


def allowed(found: dict[str, Outcome]) -> dict[str, bool | None]:
    return {name.partition(":")[2]: it.is_allowed for name, it in found.items()}


def test_calls_that_succeed_prove_a_permission() -> None:
    assert allowed(outcomes()) == {
        "DescribeStreamSummary": True,
        "ListShards": True,
        "GetShardIterator": True,
        "GetRecords": True,
    }
    encrypted = {"Records": [{"EncryptionType": "KMS"}]}
    assert allowed(outcomes(get_records=encrypted))["Decrypt"] is True


def test_a_thing_that_does_not_exist_proves_the_permission_to_ask() -> None:
    gone = refusal("ResourceNotFoundException")
    assert allowed(outcomes(describe_stream_consumer=gone))["DescribeStreamConsumer"] is True


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
    found = allowed(outcomes(get_records=refusal(code)))
    assert {name: found.get(name) for name in expected} == expected


def test_a_denied_listing_does_not_hide_the_rest() -> None:
    client = service("kinesis", **GOOD)
    seen = replace(SEEN, shards=refusal("AccessDeniedException"))
    found = allowed(call_harmlessly(client, seen, None))
    assert (found["ListShards"], found["GetRecords"]) == (False, True)


def test_a_missing_permission_is_a_problem_for_its_use_only() -> None:
    name, denied = "kinesis:GetRecords", {"kinesis:GetRecords": DENIED}
    found = of(name, Use.READ, calls=denied)
    assert (found.state, "Allow kinesis:GetRecords on the stream" in found.remedy) == (
        State.PROBLEM,
        True,
    )
    other = of(name, Use.WRITE, calls=denied)
    assert other.state is State.UNKNOWN
    assert "Only reading and exactly-once writing needs it" in other.seen


def test_what_cannot_be_proved_is_unknown() -> None:
    found = of("kinesis:PutRecords", Use.WRITE)
    assert (found.state, "AccessDenied" in found.seen) == (State.UNKNOWN, True)
    assert of("kinesis:PutRecords", unsimulated=None).state is State.UNKNOWN
    failed = {"kinesis:GetRecords": Outcome(is_allowed=None, text="Busy")}
    assert "Busy" in of("kinesis:GetRecords", calls=failed).seen


@pytest.mark.parametrize(
    ("decision", "state"),
    [("allowed", State.OK), ("implicitDeny", State.PROBLEM), ("explicitDeny", State.PROBLEM)],
)
def test_the_simulator_decides_what_no_call_proves(decision: str, state: State) -> None:
    for name, use in (("kinesis:PutRecords", Use.WRITE), ("kms:Decrypt", Use.READ)):
        answer = {"EvaluationResults": [{"EvalActionName": name, "EvalDecision": decision}]}
        iam = service("iam", simulate_principal_policy=answer)
        found = of(name, use, simulated=simulate(iam, ROLE, [name], ARN))
        assert (found.state, decision in found.seen) == (state, True)


def test_a_call_counts_more_than_the_simulator() -> None:
    name = "kinesis:GetRecords"
    found = of(name, Use.READ, calls={name: DENIED}, simulated={name: ALLOWED})
    assert found.state is State.PROBLEM
    failed = Outcome(is_allowed=None, text="Busy")
    assert of(name, Use.READ, calls={name: failed}, simulated={name: ALLOWED}).state is State.OK


def test_what_a_query_does_not_need_is_ok(monkeypatch: pytest.MonkeyPatch) -> None:
    denied = service("kinesis", **{**GOOD, "get_records": refusal("KMSAccessDeniedException")})
    monkeypatch.setattr(Setup, "kinesis", lambda *_: denied)
    connection = Connection("doctor", endpoint="http://127.0.0.1:1")

    def decrypt(key: Key | None) -> Finding:
        setup = Setup(connection=connection, stream="orders", seen=replace(SEEN, key=key))
        (found,) = (it for it in permission_check(setup) if it.subject == "kms:Decrypt")
        return found

    assert decrypt(Key("alias/mine", is_of_aws=False)).state is State.PROBLEM
    for key in (None, Key("alias/aws/kinesis", is_of_aws=True)):
        assert decrypt(key).seen == "not needed: the stream has no key of its own"
    name = "kinesis:RegisterStreamConsumer"
    needless = of(name, Use.FAN_OUT, needless={name: "it exists"}, calls={name: DENIED})
    assert needless.seen == "not needed: it exists"


def test_uses_include_others() -> None:
    assert uses_of(["read"], has_consumer=False) == {Use.READ}
    assert uses_of(["exactly-once"], has_consumer=False) == {Use.EXACTLY_ONCE, Use.WRITE}
    assert uses_of(["write"], has_consumer=True) == {Use.READ, Use.FAN_OUT, Use.WRITE}
    with pytest.raises(ValueError, match="reed"):
        uses_of(["reed"], has_consumer=False)


@pytest.mark.parametrize(
    ("identity", "principal"),
    [
        ("arn:aws:iam::123456789012:user/a/ann", "arn:aws:iam::123456789012:user/a/ann"),
        (ROLE, "arn:aws:iam::123456789012:role/reader"),
        ("arn:aws-cn:sts::1:assumed-role/r/s", "arn:aws-cn:iam::1:role/r"),
        ("arn:aws:iam::123456789012:root", None),
        ("arn:aws:sts::123456789012:federated-user/ann", None),
    ],
)
def test_the_caller_has_a_principal(identity: str, principal: str | None) -> None:
    assert principal_of(identity, service("iam", get_role=refusal("AccessDenied"))) == principal


def test_the_path_of_a_role_is_asked_for() -> None:
    arn = "arn:aws:iam::123456789012:role/apps/reader"
    assert principal_of(ROLE, service("iam", get_role={"Role": {"Arn": arn}})) == arn


def test_the_simulator_answers_in_pages_or_refuses() -> None:
    def result(name: str) -> dict[str, Any]:
        return {"EvaluationResults": [{"EvalActionName": name, "EvalDecision": "allowed"}]}

    first = {**result("a:A"), "IsTruncated": True, "Marker": "a"}
    iam = service("iam", simulate_principal_policy=[first, result("a:B")])
    assert allowed(simulate(iam, ROLE, ["a:A", "a:B"], ARN)) == {"A": True, "B": True}
    denying = service("iam", simulate_principal_policy=refusal("AccessDenied"))
    with pytest.raises(ClientError, match="AccessDenied"):
        simulate(denying, ROLE, ["a:A"], ARN)
