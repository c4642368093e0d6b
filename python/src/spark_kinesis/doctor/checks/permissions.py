"""The check of the permissions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spark_kinesis import SparkKinesisError
from spark_kinesis.doctor.aws import text_of
from spark_kinesis.doctor.permissions import (
    ACTIONS,
    Action,
    Evidence,
    KeyFacts,
    Outcome,
    call_harmlessly,
    find_key,
    key_finding,
    permission_findings,
    principal_of,
    simulate,
    uses_of,
)
from spark_kinesis.doctor.permissions.actions import REGISTER, Use

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spark_kinesis.doctor.finding import Finding
    from spark_kinesis.doctor.question import Question
    from spark_kinesis.doctor.streams import Seen

    from .base import Say

_OF_CONSUMER = ("kinesis:SubscribeToShard", "kinesis:DescribeStreamConsumer")


def permission_check(question: Question, say: Say) -> list[Finding]:  # noqa: ARG001 a Check
    """The KMS key, and each action of docs/how-to/iam.md."""
    seen = question.seen
    if isinstance(seen, Exception):
        return []
    access, arn = question.access, seen.summary.arn
    calls = call_harmlessly(access.kinesis(question.stream), seen, question.consumer)
    key = None
    if seen.summary.key is not None:
        key = find_key(access.service("kms", arn) if access.is_aws else None, seen.summary.key)
    simulated, unsimulated = _simulated(question, seen, calls, key)
    evidence = Evidence(
        calls=calls,
        simulated=simulated,
        unsimulated=unsimulated,
        needs_key=key is not None and not key.is_of_aws,
        needless=_needless(seen, question.consumer),
    )
    uses = uses_of(question.uses, has_consumer=question.consumer is not None)
    findings = permission_findings(evidence, uses)
    return findings if key is None else [key_finding(key), *findings]


def _needless(seen: Seen, consumer: str | None) -> dict[str, str]:
    if consumer is None:
        fan_out = [it.name for it in ACTIONS if Use.FAN_OUT in it.uses]
        return dict.fromkeys(fan_out, "no consumer was named")
    if consumer.startswith("arn:"):
        return {REGISTER: "a query with the ARN of a consumer registers none"}
    known = () if isinstance(seen.consumers, Exception) else seen.consumers
    is_there = any(it.name == consumer for it in known)
    return {REGISTER: "the consumer exists"} if is_there else {}


def _simulated(
    question: Question, seen: Seen, calls: Mapping[str, Outcome], key: KeyFacts | None
) -> tuple[dict[str, str], str | None]:
    """The decisions of the policy simulator, or why there are none."""
    if not question.access.is_aws:
        return {}, "the endpoint is not that of AWS"
    if question.identity is None:
        return {}, "the caller is unknown"
    try:
        iam = question.access.service("iam", seen.summary.arn)
    except SparkKinesisError as error:
        return {}, str(error)
    principal = principal_of(question.identity, iam)
    if principal is None:
        return {}, f"{question.identity} is neither a user nor a role"
    left = [it for it in ACTIONS if it.name not in calls or calls[it.name].is_allowed is None]
    return _decisions(iam, principal, _by_resource(left, question, seen, key))


def _decisions(
    iam: Any, principal: str, actions: Mapping[str, list[str]]
) -> tuple[dict[str, str], str | None]:
    found: dict[str, str] = {}
    for resource, names in actions.items():
        decisions = simulate(iam, principal, names, resource)
        if isinstance(decisions, Exception):
            return found, text_of(decisions)
        found.update(decisions)
    return found, None


def _by_resource(
    actions: list[Action], question: Question, seen: Seen, key: KeyFacts | None
) -> dict[str, list[str]]:
    """Names of actions by the ARN of what they act on."""
    found: dict[str, list[str]] = {}
    for action in actions:
        resource: str | None = seen.summary.arn
        if action.is_of_key:
            resource = None if key is None else key.arn
        elif action.name in _OF_CONSUMER:
            resource = _consumer(question.consumer, seen)
        if resource is not None:
            found.setdefault(resource, []).append(action.name)
    return found


def _consumer(wanted: str | None, seen: Seen) -> str | None:
    if wanted is None or wanted.startswith("arn:"):
        return wanted
    known = () if isinstance(seen.consumers, Exception) else seen.consumers
    # The end of the ARN is the time of the registration, which is not known before.
    made_up = f"{seen.summary.arn}/consumer/{wanted}:1"
    return next((it.arn for it in known if it.name == wanted), made_up)
