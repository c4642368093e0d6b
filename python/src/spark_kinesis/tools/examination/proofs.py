"""Proves permissions: by calls that change nothing, and by the policy simulator of IAM."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from spark_kinesis._boto import code_of

from .refusals import call_errors, is_denied, text_of

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient

    from .stream import Seen

_FIRST_SHARD = "shardId-000000000000"
# AWS checks the permission first, so an answer that a thing does not exist proves it.
_ALLOWED = "ResourceNotFoundException"
_KMS = "KMS"
_ARN_PARTS = 6


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a call proved."""

    is_allowed: bool | None  # ``None`` if the call failed for another reason than a permission
    text: str  # how it was proved, or the error
    code: str = ""  # the service's name of the error. Empty without one.


_PROVED = Outcome(is_allowed=True, text="allowed, as a call proved")


def call_harmlessly(client: KinesisClient, seen: Seen, consumer: str | None) -> dict[str, Outcome]:
    """The outcomes of calls by action. The calls change nothing, and read one record.

    Args:
        client: client of Kinesis.
        seen: the stream.
        consumer: name or ARN of the consumer of the query, or ``None``.
    """
    arn = seen.summary.arn
    listed = _failed(seen.shards) if isinstance(seen.shards, Exception) else _PROVED
    found = {
        "kinesis:DescribeStreamSummary": _PROVED,
        "kinesis:ListShards": listed,
        **_reading(client, arn, seen.open_shard or _FIRST_SHARD),
    }
    if consumer is not None:
        by_name = {"StreamARN": arn, "ConsumerName": consumer}
        named: Any = {"ConsumerARN": consumer} if consumer.startswith("arn:") else by_name
        outcome, _ = _attempt(lambda: client.describe_stream_consumer(**named))
        found["kinesis:DescribeStreamConsumer"] = outcome
    return found


def _reading(client: KinesisClient, arn: str, shard: str) -> dict[str, Outcome]:
    found, answer = _attempt(
        lambda: client.get_shard_iterator(
            StreamARN=arn, ShardId=shard, ShardIteratorType="TRIM_HORIZON"
        )
    )
    outcomes = {"kinesis:GetShardIterator": found}
    if answer is None:
        return outcomes
    iterator = answer["ShardIterator"]
    got, answer = _attempt(
        lambda: client.get_records(ShardIterator=iterator, Limit=1, StreamARN=arn)
    )
    if got.code.startswith(_KMS):
        outcomes["kms:Decrypt"] = got
        got = _PROVED
    elif answer is not None and any(it.get("EncryptionType") == _KMS for it in answer["Records"]):
        outcomes["kms:Decrypt"] = _PROVED
    return {**outcomes, "kinesis:GetRecords": got}


def _attempt(call: Callable[[], Any]) -> tuple[Outcome, Any]:
    try:
        return _PROVED, call()
    except call_errors() as error:
        return _failed(error), None


def _failed(error: Exception) -> Outcome:
    code = code_of(error)
    if code == _ALLOWED:
        return _PROVED
    is_refused = is_denied(error) or (code.startswith(_KMS) and "Throttling" not in code)
    return Outcome(is_allowed=False if is_refused else None, text=text_of(error), code=code)


def principal_of(identity: str, iam: Any) -> str | None:
    """The user or role whose policies are to be simulated.

    Args:
        identity: ARN of the caller as AWS STS returns it.
        iam: client of IAM. It is asked for the path of a role, which the ARN of the caller lacks.

    Returns:
        An ARN. ``None`` for callers that have no policies of their own, such as the root user.
    """
    parts = identity.split(":", _ARN_PARTS - 1)
    kind, _, name = parts[-1].partition("/")
    if kind == "user":
        return identity
    if kind != "assumed-role":
        return None
    role = name.partition("/")[0]
    try:
        return str(iam.get_role(RoleName=role)["Role"]["Arn"])
    except call_errors():
        return f"{parts[0]}:{parts[1]}:iam::{parts[4]}:role/{role}"


def simulate(iam: Any, principal: str, actions: Sequence[str], resource: str) -> dict[str, Outcome]:
    """What the simulator decides by action. It performs no action.

    Args:
        iam: client of IAM.
        principal: ARN of a user or role.
        actions: actions on one kind of resource.
        resource: ARN of the resource.

    Raises:
        botocore.exceptions.ClientError: if ``iam:SimulatePrincipalPolicy`` is not allowed.
    """
    pages = iam.get_paginator("simulate_principal_policy").paginate(
        PolicySourceArn=principal, ActionNames=list(actions), ResourceArns=[resource]
    )
    results = [it for page in pages for it in page["EvaluationResults"]]
    return {it["EvalActionName"]: _decision(it["EvalDecision"]) for it in results}


def _decision(word: str) -> Outcome:
    """``allowed``, ``explicitDeny`` or ``implicitDeny``."""
    return Outcome(is_allowed=word == "allowed", text=f"the policy simulator of IAM says {word}")
