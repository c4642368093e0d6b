"""Are the actions of docs/how-to/iam.md allowed, as far as that can be proved without writing?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from .finding import Finding, Section
from .proofs import Outcome, call_harmlessly, principal_of, simulate
from .refusals import call_errors, text_of

if TYPE_CHECKING:
    from .setup import Setup
    from .stream import Seen

PERMISSIONS = Section("permissions")


class Use(Enum):
    """What a query does with a stream."""

    READ = "read"
    FAN_OUT = "fan-out"
    WRITE = "write"
    EXACTLY_ONCE = "exactly-once"


@dataclass(frozen=True)
class Action:
    """An IAM action."""

    name: str  # such as ``kinesis:GetRecords``
    uses: frozenset[Use]  # what needs it

    @property
    def is_of_key(self) -> bool:
        """Whether it is an action on the KMS key of the stream."""
        return self.name.startswith("kms:")


def _action(name: str, *uses: Use) -> Action:
    return Action(name, frozenset(uses))


_REGISTER = "kinesis:RegisterStreamConsumer"
_OF_CONSUMER = ("kinesis:SubscribeToShard", "kinesis:DescribeStreamConsumer")
ACTIONS = (
    _action("kinesis:DescribeStreamSummary", Use.READ, Use.WRITE),
    _action("kinesis:ListShards", Use.READ, Use.WRITE),
    _action("kinesis:GetShardIterator", Use.READ, Use.EXACTLY_ONCE),
    _action("kinesis:GetRecords", Use.READ, Use.EXACTLY_ONCE),
    _action("kms:Decrypt", Use.READ, Use.EXACTLY_ONCE),
    _action("kinesis:SubscribeToShard", Use.FAN_OUT),
    _action("kinesis:DescribeStreamConsumer", Use.FAN_OUT),
    _action(_REGISTER, Use.FAN_OUT),
    _action("kinesis:PutRecords", Use.WRITE),
    _action("kms:GenerateDataKey", Use.WRITE),
)
_NAMES = {
    Use.READ: "reading",
    Use.FAN_OUT: "enhanced fan-out",
    Use.WRITE: "writing",
    Use.EXACTLY_ONCE: "exactly-once writing",
}


def uses_of(words: Iterable[str], *, has_consumer: bool) -> frozenset[Use]:
    """The uses of a query.

    Args:
        words: ``read``, ``write`` and ``exactly-once``, which includes ``write``.
        has_consumer: whether the query has a consumer of enhanced fan-out.

    Raises:
        ValueError: for another word.
    """
    found = {Use(word) for word in words}
    if Use.EXACTLY_ONCE in found:
        found.add(Use.WRITE)
    return frozenset(found | {Use.READ, Use.FAN_OUT} if has_consumer else found)


def permission_check(setup: Setup) -> list[Finding]:
    """Each action of docs/how-to/iam.md."""
    seen = setup.seen
    if seen is None:
        return []
    calls = call_harmlessly(setup.kinesis(setup.stream), seen, setup.consumer)
    simulated, unsimulated = _simulated(setup, seen, calls)
    return list(
        permission_findings(
            uses_of(setup.uses, has_consumer=setup.consumer is not None),
            calls=calls,
            simulated=simulated,
            unsimulated=unsimulated,
            needless=_needless(seen, setup.consumer),
        )
    )


def _needless(seen: Seen, consumer: str | None) -> dict[str, str]:
    """The actions that this query does not need, with the reason."""
    found: dict[str, str] = {}
    if seen.key is None or seen.key.is_of_aws:
        of_key = [it.name for it in ACTIONS if it.is_of_key]
        found = dict.fromkeys(of_key, "the stream has no key of its own")
    if consumer is None:
        fan_out = [it.name for it in ACTIONS if Use.FAN_OUT in it.uses]
        return found | dict.fromkeys(fan_out, "no consumer was named")
    if consumer.startswith("arn:"):
        return found | {_REGISTER: "a query with the ARN of a consumer registers none"}
    return found if seen.consumer(consumer) is None else found | {_REGISTER: "the consumer exists"}


def _simulated(
    setup: Setup, seen: Seen, calls: Mapping[str, Outcome]
) -> tuple[dict[str, Outcome], str | None]:
    """The decisions of the policy simulator, or why there are none."""
    if not setup.is_aws:
        return {}, "the endpoint is not that of AWS"
    if setup.identity is None:
        return {}, "the caller is unknown"
    found: dict[str, Outcome] = {}
    try:
        iam = setup.service("iam", seen.summary.arn)
        principal = principal_of(setup.identity, iam)
        if principal is None:
            return {}, f"{setup.identity} is neither a user nor a role"
        for resource, names in _by_resource(setup, seen, calls).items():
            found |= simulate(iam, principal, names, resource)
    except call_errors() as error:
        return found, text_of(error)
    return found, None


def _by_resource(setup: Setup, seen: Seen, calls: Mapping[str, Outcome]) -> dict[str, list[str]]:
    """Names of the actions that no call has decided, by the ARN of what they act on."""
    found: dict[str, list[str]] = {}
    for action in ACTIONS:
        if action.name in calls and calls[action.name].is_allowed is not None:
            continue
        resource: str | None = seen.summary.arn
        if action.is_of_key:
            resource = None if seen.key is None else seen.key.arn
        elif action.name in _OF_CONSUMER:
            resource = _consumer_arn(setup.consumer, seen)
        if resource is not None:
            found.setdefault(resource, []).append(action.name)
    return found


def _consumer_arn(wanted: str | None, seen: Seen) -> str | None:
    if wanted is None or wanted.startswith("arn:"):
        return wanted
    known = seen.consumer(wanted)
    # The end of the ARN is the time of the registration, which is not known before.
    return f"{seen.summary.arn}/consumer/{wanted}:1" if known is None else known.arn


def permission_findings(
    uses: AbstractSet[Use],
    *,
    calls: Mapping[str, Outcome],
    simulated: Mapping[str, Outcome],
    unsimulated: str | None,
    needless: Mapping[str, str],
) -> Iterator[Finding]:
    """One finding per action. Makes no calls.

    Args:
        uses: what the query does. A missing permission for anything else is no problem.
        calls: outcomes of harmless calls by action.
        simulated: decisions of the policy simulator by action. A call counts more.
        unsimulated: why the simulator was not asked, or refused. ``None`` if it answered.
        needless: actions that this query does not need, with the reason.
    """
    for action in ACTIONS:
        name = action.name
        outcome = calls.get(name)
        if outcome is None or outcome.is_allowed is None:
            outcome = simulated.get(name, outcome)
        if name in needless:
            yield PERMISSIONS.ok(name, f"not needed: {needless[name]}")
        elif outcome is None:
            yield _unproved(action, unsimulated)
        elif outcome.is_allowed is None:
            seen = f"the call failed: {outcome.text}"
            yield PERMISSIONS.unknown(name, seen, "Try again later.")
        elif outcome.is_allowed:
            yield PERMISSIONS.ok(name, outcome.text)
        else:
            yield _denied(action, outcome.text, is_wanted=bool(action.uses & uses))


def _denied(action: Action, text: str, *, is_wanted: bool) -> Finding:
    seen = f"{action.name} is denied: {text}"
    if not is_wanted:
        needed_by = " and ".join(_NAMES[it] for it in Use if it in action.uses)
        return PERMISSIONS.unknown(action.name, f"{seen}. Only {needed_by} needs it")
    where = "the KMS key of the stream" if action.is_of_key else "the stream"
    if action.uses == {Use.FAN_OUT}:
        where = "the stream and on its consumer"
    remedy = (
        f"Allow {action.name} on {where}, in the policy of the caller: see docs/how-to/iam.md. In "
        "another account, its owner must allow it, too."
    )
    if action.is_of_key:
        remedy += " The policy of the key must allow it, and the key must be enabled."
    return PERMISSIONS.problem(action.name, seen, remedy)


def _unproved(action: Action, unsimulated: str | None) -> Finding:
    seen = "it cannot be proved without a change"
    if action.name == "kms:Decrypt":
        seen = "it cannot be proved: no encrypted record was read"
    why = "does not know it" if unsimulated is None else f"did not help: {unsimulated}"
    return PERMISSIONS.unknown(action.name, f"{seen}, and the policy simulator {why}")
