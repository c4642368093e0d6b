"""Is the stream as a query needs it: status, shards, retention, consumers, and its KMS key?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from spark_kinesis._times import duration_text
from spark_kinesis.tools.facts.streams import (
    HASH_KEYS,
    StreamShard,
    StreamSummary,
    describe,
    list_shards,
)

from .finding import Finding, Section
from .refusals import call_errors, refused, stopped, text_of

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient

    from .setup import Setup

Found = TypeVar("Found")
STREAM = Section("stream")
_USABLE = ("ACTIVE", "UPDATING")
_MODES = {"PROVISIONED": "provisioned", "ON_DEMAND": "on-demand"}
# Most consumers of a stream. The larger one is for accounts with the on-demand advantage mode.
_CONSUMERS, _MOST_CONSUMERS = 20, 50
_KEY_OF_AWS = "alias/aws/kinesis"


class Consumer(NamedTuple):
    """A consumer of enhanced fan-out."""

    name: str  # name, which is unique in its stream
    arn: str  # ARN. Another consumer of the same name has another one.
    status: str  # ``CREATING``, ``ACTIVE`` or ``DELETING``


class Key(NamedTuple):
    """The KMS key of a stream."""

    id: str  # ID, alias or ARN, as the stream names it
    is_of_aws: bool  # whether AWS manages it, so that it needs no permission
    arn: str | None = None  # ARN. ``None`` if AWS KMS did not describe the key.
    state: str | None = None  # such as ``Enabled``. ``None`` if AWS KMS did not describe the key.
    refusal: str | None = None  # why AWS KMS did not describe it, or ``None``


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What Kinesis says about a stream."""

    summary: StreamSummary  # its description
    shards: Sequence[StreamShard] | Exception  # its shards, or the error of ``ListShards``
    consumers: Sequence[Consumer] | Exception  # or the error of ``ListStreamConsumers``
    key: Key | None = None  # the key that encrypts its records. ``None`` without encryption.

    @property
    def open_shard(self) -> str | None:
        """ID of an open shard. ``None`` if the shards are unknown."""
        shards = () if isinstance(self.shards, Exception) else self.shards
        return next((it.id for it in shards if it.is_open), None)

    def consumer(self, wanted: str) -> Consumer | None:
        """The consumer with a name or ARN. ``None`` if there is none, or if they are unknown."""
        known = () if isinstance(self.consumers, Exception) else self.consumers
        return next((it for it in known if wanted in (it.name, it.arn)), None)


def stream_check(setup: Setup) -> list[Finding]:
    """The settings of the stream. The later checks use what is seen here."""
    try:
        setup.seen = _look(setup, setup.stream or "")
    except call_errors() as error:
        return [stopped(STREAM, "status", error)]
    return stream_findings(setup.seen, setup.consumer)


def _look(setup: Setup, stream: str) -> Seen:
    """Ask about a stream. The calls change nothing."""
    client = setup.kinesis(stream)
    summary = describe(client, stream)
    kms = setup.service("kms", summary.arn) if summary.key and setup.is_aws else None
    return Seen(
        summary=summary,
        shards=_or_error(lambda: list_shards(client, summary.arn)),
        consumers=_or_error(lambda: _list_consumers(client, summary.arn)),
        key=find_key(kms, summary.key) if summary.key else None,
    )


def _or_error(ask: Callable[[], Found]) -> Found | Exception:
    try:
        return ask()
    except call_errors() as error:
        return error


def _list_consumers(client: KinesisClient, arn: str) -> list[Consumer]:
    """All consumers of a stream, by name."""
    pages = client.get_paginator("list_stream_consumers").paginate(StreamARN=arn)
    return sorted(
        Consumer(it["ConsumerName"], it["ConsumerARN"], it["ConsumerStatus"])
        for page in pages
        for it in page["Consumers"]
    )


def find_key(kms: Any, key: str) -> Key:
    """Ask AWS KMS about a key.

    Args:
        kms: client of AWS KMS. ``None`` without one: Kinesis is not that of AWS.
        key: ID, alias or ARN.
    """
    is_of_aws = key.endswith(_KEY_OF_AWS)
    if kms is None:
        return Key(key, is_of_aws)
    try:
        found = kms.describe_key(KeyId=key)["KeyMetadata"]
    except call_errors() as error:
        return Key(key, is_of_aws, refusal=text_of(error))
    is_of_aws = is_of_aws or found.get("KeyManager") == "AWS"
    return Key(key, is_of_aws, found["Arn"], found["KeyState"])


def stream_findings(seen: Seen, consumer: str | None) -> list[Finding]:
    """What the settings mean for a query. Makes no calls.

    Args:
        seen: what Kinesis says.
        consumer: name or ARN of the consumer of the query. ``None`` if it polls.
    """
    summary = seen.summary
    encryption = f"records are encrypted with KMS key {summary.key}" if summary.key else "none"
    return [
        _status(summary),
        STREAM.ok("mode", _MODES.get(summary.mode, summary.mode)),
        _shards(seen.shards),
        STREAM.ok("retention", f"records are kept for {duration_text(summary.retention)}"),
        STREAM.ok("encryption", encryption),
        STREAM.ok("metrics per shard", ", ".join(summary.shard_metrics) or "none"),
        _consumers(seen.consumers, is_needed=consumer is not None),
        *_wanted(seen, consumer),
        *([] if seen.key is None else [key_finding(seen.key)]),
    ]


def _status(summary: StreamSummary) -> Finding:
    seen = f"stream {summary.name} is {summary.status}"
    if summary.status in _USABLE:
        return STREAM.ok("status", f"{seen}: {summary.arn}")
    if summary.status == "CREATING":
        return STREAM.problem("status", seen, "Wait until the stream is ACTIVE.")
    return STREAM.problem("status", seen, "Name a stream that is not being deleted.")


def _shards(shards: Sequence[StreamShard] | Exception) -> Finding:
    if isinstance(shards, Exception):
        return refused(STREAM, "shards", shards, "kinesis:ListShards")
    is_open = [it for it in shards if it.is_open]
    seen = f"{len(is_open)} open, {len(shards) - len(is_open)} closed"
    if sum(it.last_key - it.first_key + 1 for it in is_open) != HASH_KEYS:
        return STREAM.problem(
            "shards",
            f"{seen}. The open shards do not cover each hash key once",
            "Wait until the reshard is complete. A query that starts meanwhile may fail with "
            "KINESIS_INCOMPLETE_SHARD_LIST.",
        )
    return STREAM.ok("shards", seen)


def _consumers(found: Sequence[Consumer] | Exception, *, is_needed: bool) -> Finding:
    if not isinstance(found, Exception):
        names = ", ".join(f"{it.name} ({it.status})" for it in found)
        return STREAM.ok("consumers", f"{len(found)}: {names}" if names else "none")
    if is_needed:
        return refused(STREAM, "consumers", found, "kinesis:ListStreamConsumers")
    seen = f"the list is not readable: {text_of(found)}"
    return STREAM.unknown("consumers", seen, "To see the list, allow kinesis:ListStreamConsumers.")


def _wanted(seen: Seen, wanted: str | None) -> list[Finding]:
    """The consumer of the query, if it has one, and if the consumers are known."""
    if wanted is None or isinstance(seen.consumers, Exception):
        return []
    match = seen.consumer(wanted)
    if match is None:
        return [_absent(wanted, len(seen.consumers))]
    if match.status == "ACTIVE":
        return [STREAM.ok("consumer", f"{match.name} is ACTIVE: {match.arn}")]
    remedy = "Wait until it is ACTIVE. If it is being deleted, name another consumer."
    return [STREAM.problem("consumer", f"{match.name} is {match.status}", remedy)]


def _absent(wanted: str, others: int) -> Finding:
    absent = f"the stream has no consumer {wanted}"
    if wanted.startswith("arn:"):
        remedy = (
            "Correct the ARN: aws kinesis list-stream-consumers shows all. A consumer that was "
            "registered again has another ARN."
        )
        return STREAM.problem("consumer", absent, remedy)
    if others < _CONSUMERS:
        return STREAM.ok("consumer", f"{absent}. The query registers it when it starts")
    absent += f", and has {others} others"
    remedy = "Deregister one with aws kinesis deregister-stream-consumer, or poll."
    if others >= _MOST_CONSUMERS:
        return STREAM.problem("consumer", absent, remedy)
    most = f"Without On-demand Advantage, a stream has at most {_CONSUMERS}."
    return STREAM.unknown("consumer", absent, f"{most} {remedy}")


def key_finding(key: Key) -> Finding:
    """Is the key in a state in which Kinesis can use it?"""
    if key.state == "Enabled":
        return STREAM.ok("key", f"key {key.id} is enabled")
    if key.state is not None:
        return STREAM.problem(
            "key",
            f"key {key.id} of the stream is {key.state}, so reads and writes fail",
            "Make it usable in AWS KMS, or encrypt the stream with another key. Records that were "
            "encrypted with a deleted key are lost.",
        )
    if key.is_of_aws:
        return STREAM.ok("key", f"AWS manages {key.id}. It needs no permission")
    seen = f"the state of key {key.id} is unknown"
    if key.refusal is None:
        return STREAM.unknown("key", seen)
    remedy = "To see it, allow kms:DescribeKey. The connector does not need it."
    return STREAM.unknown("key", f"{seen}: {key.refusal}", remedy)
