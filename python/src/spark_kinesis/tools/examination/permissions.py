"""Are the actions of docs/how-to/iam.md allowed, as far as calls prove it that change nothing?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from spark_kinesis._boto import code_of

from .finding import Finding, Section, call_errors, text_of
from .stream import consumer_request

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient

    from .finding import Setup

PERMISSIONS = Section("permissions")
READ, FAN_OUT, WRITE, EXACTLY_ONCE = "read", "fan-out", "write", "exactly-once"
_REGISTER = "kinesis:RegisterStreamConsumer"
ACTIONS = {
    "kinesis:DescribeStreamSummary": {READ, WRITE},
    "kinesis:ListShards": {READ, WRITE},
    "kinesis:GetShardIterator": {READ, EXACTLY_ONCE},
    "kinesis:GetRecords": {READ, EXACTLY_ONCE},
    "kms:Decrypt": {READ, EXACTLY_ONCE},
    "kinesis:SubscribeToShard": {FAN_OUT},
    "kinesis:DescribeStreamConsumer": {FAN_OUT},
    _REGISTER: {FAN_OUT},
    "kinesis:PutRecords": {WRITE},
    "kms:GenerateDataKey": {WRITE},
}
"""What a query does with a stream, and which actions of IAM it needs for that."""
_KEY_OF_AWS = "alias/aws/kinesis"  # needs no permission
_FIRST_SHARD = "shardId-000000000000"
# AWS checks the permission first, so an answer that a thing does not exist proves it.
_ALLOWED = "ResourceNotFoundException"
_DENIED = ("AccessDeniedException", "AccessDenied", "UnauthorizedOperation")

Proof = tuple[bool | None, str]
"""Whether an action is allowed, ``None`` if a call failed for another reason, and how we know."""
_PROVED: Proof = (True, "allowed, as a call proved")


def uses_of(words: Iterable[str], *, has_consumer: bool) -> set[str]:
    """The uses of a query. ``exactly-once`` includes ``write``. ``ValueError`` for another word."""
    found = set(words)
    if wrong := found - {READ, WRITE, EXACTLY_ONCE}:
        raise ValueError(f"uses: {wrong.pop()!r} is not read, write or exactly-once")
    if EXACTLY_ONCE in found:
        found.add(WRITE)
    return found | {READ, FAN_OUT} if has_consumer else found


def permission_check(setup: Setup) -> Iterator[Finding]:
    """Each action that the query needs."""
    summary = setup.summary
    if summary is None:
        return
    uses = uses_of(setup.uses, has_consumer=setup.consumer is not None)
    needed = [name for name, of in ACTIONS.items() if of & uses]
    if summary.key is None or summary.key.endswith(_KEY_OF_AWS):
        needed = [it for it in needed if not it.startswith("kms:")]
    if setup.has_consumer and _REGISTER in needed:
        needed.remove(_REGISTER)
    shard = next((it.id for it in setup.shards if it.is_open), _FIRST_SHARD)
    client = setup.kinesis(setup.stream)
    proofs = call_harmlessly(client, summary.arn, shard, setup.consumer, needed)
    for name in needed:
        yield permission_finding(name, proofs.get(name))


def call_harmlessly(
    client: KinesisClient, arn: str, shard: str, consumer: str | None, needed: Iterable[str]
) -> dict[str, Proof]:
    """What calls prove, by action. They change nothing, and read one record."""
    found = {"kinesis:DescribeStreamSummary": _PROVED}  # it was called to find the ARN
    listed, _ = _attempt(lambda: client.list_shards(StreamARN=arn, MaxResults=1))
    found["kinesis:ListShards"] = listed
    if consumer is not None:
        request = consumer_request(arn, consumer)
        described, _ = _attempt(lambda: client.describe_stream_consumer(**request))
        found["kinesis:DescribeStreamConsumer"] = described
    if "kinesis:GetRecords" not in needed:
        return found
    found["kinesis:GetShardIterator"], answer = _attempt(
        lambda: client.get_shard_iterator(
            StreamARN=arn, ShardId=shard, ShardIteratorType="TRIM_HORIZON"
        )
    )
    if answer is None:
        return found
    got, answer = _attempt(
        lambda: client.get_records(ShardIterator=answer["ShardIterator"], Limit=1, StreamARN=arn)
    )
    if got[1].startswith("KMS"):  # the permission to read is checked before that for the key
        return found | {"kinesis:GetRecords": _PROVED, "kms:Decrypt": got}
    found["kinesis:GetRecords"] = got
    if answer is not None and any(it.get("EncryptionType") == "KMS" for it in answer["Records"]):
        found["kms:Decrypt"] = _PROVED
    return found


def _attempt(call: Callable[[], Any]) -> tuple[Proof, Any]:
    try:
        return _PROVED, call()
    except call_errors() as error:
        code = code_of(error)
        if code == _ALLOWED:
            return _PROVED, None
        is_refused = code in _DENIED or (code.startswith("KMS") and "Throttling" not in code)
        return (False if is_refused else None, text_of(error)), None


def permission_finding(name: str, proof: Proof | None) -> Finding:
    """What a proof of an action means. ``None`` is no proof."""
    if proof is None:
        seen = "it cannot be proved without a change"
        if name == "kms:Decrypt":
            seen = "it cannot be proved: no encrypted record was read"
        remedy = f"Ask IAM: aws iam simulate-principal-policy --action-names {name}"
        return PERMISSIONS.unknown(name, seen, remedy)
    is_allowed, text = proof
    if is_allowed is None:
        return PERMISSIONS.unknown(name, f"the call failed: {text}", "Try again later.")
    if is_allowed:
        return PERMISSIONS.ok(name, text)
    remedy = (
        f"Allow {name} in the policy of the caller: see docs/how-to/iam.md. The owner of another "
        "account must allow it, too."
    )
    if name.startswith("kms:"):
        remedy += " The policy of the key must allow it, and the key must be enabled."
    return PERMISSIONS.problem(name, f"{name} is denied: {text}", remedy)
