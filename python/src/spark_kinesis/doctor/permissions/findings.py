"""What the evidence for each action means. Makes no calls."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from spark_kinesis.doctor.finding import Finding, ok, problem, unknown

from .actions import ACTIONS, Action, Use

if TYPE_CHECKING:
    from collections.abc import Mapping
    from collections.abc import Set as AbstractSet

    from .calls import Outcome

SECTION = "permissions"
_NAMES = {
    Use.READ: "reading",
    Use.FAN_OUT: "enhanced fan-out",
    Use.WRITE: "writing",
    Use.EXACTLY_ONCE: "exactly-once writing",
}
_ALLOWED = "allowed"


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What is known about the actions.

    Attributes:
        calls: outcomes of harmless calls by action.
        simulated: decisions of the policy simulator by action.
        unsimulated: why the simulator was not asked, or refused. ``None`` if it answered.
        needs_key: whether the stream has a KMS key of its own.
        needless: actions that this query does not need, with the reason.
    """

    calls: Mapping[str, Outcome]
    simulated: Mapping[str, str] = field(default_factory=dict)
    unsimulated: str | None = None
    needs_key: bool
    needless: Mapping[str, str] = field(default_factory=dict)


def permission_findings(evidence: Evidence, uses: AbstractSet[Use]) -> list[Finding]:
    """One finding per action.

    Args:
        evidence: what is known.
        uses: what the query does. A missing permission for anything else is no problem.
    """
    return [_finding(action, evidence, is_wanted=bool(action.uses & uses)) for action in ACTIONS]


def _finding(action: Action, evidence: Evidence, *, is_wanted: bool) -> Finding:
    if action.is_of_key and not evidence.needs_key:
        return ok(SECTION, action.name, "not needed: the stream has no key of its own")
    if action.name in evidence.needless:
        return ok(SECTION, action.name, f"not needed: {evidence.needless[action.name]}")
    call = evidence.calls.get(action.name)
    decision = evidence.simulated.get(action.name)
    if call is not None and call.is_allowed is not None:
        is_allowed, text = call.is_allowed, call.text
    elif decision is not None:
        is_allowed, text = decision == _ALLOWED, f"the policy simulator of IAM says {decision}"
    else:
        return _unproved(action, evidence, call)
    if is_allowed:
        return ok(SECTION, action.name, text)
    return _denied(action, text, is_wanted=is_wanted)


def _denied(action: Action, text: str, *, is_wanted: bool) -> Finding:
    seen = f"{action.name} is denied: {text}"
    needed_by = " and ".join(_NAMES[it] for it in Use if it in action.uses)
    if not is_wanted:
        return unknown(SECTION, action.name, f"{seen}. Only {needed_by} needs it")
    where = "the KMS key of the stream" if action.is_of_key else "the stream"
    if action.uses == {Use.FAN_OUT}:
        where = "the stream and on its consumer"
    remedy = (
        f"Allow {action.name} on {where}, in the policy of the caller: see docs/how-to/iam.md. In "
        "another account, its owner must allow it, too."
    )
    if action.is_of_key:
        remedy += " The policy of the key must allow it, and the key must be enabled."
    return problem(SECTION, action.name, seen, remedy)


def _unproved(action: Action, evidence: Evidence, call: Outcome | None) -> Finding:
    if call is not None:
        return unknown(SECTION, action.name, f"the call failed: {call.text}", "Try again later.")
    seen = "it cannot be proved without a change"
    if action.name == "kms:Decrypt":
        seen = "it cannot be proved: no encrypted record was read"
    if evidence.unsimulated is None:
        return unknown(SECTION, action.name, f"{seen}, and the policy simulator does not know it")
    return unknown(
        SECTION,
        action.name,
        f"{seen}, and the policy simulator did not help: {evidence.unsimulated}",
    )
