"""Asks the policy simulator of IAM, where that is allowed. It performs no action."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

_STS_PARTS, _ROLE_PARTS = 6, 2


def principal_of(identity: str, iam: Any) -> str | None:
    """The user or role whose policies are to be simulated.

    Args:
        identity: ARN of the caller as AWS STS returns it.
        iam: client of IAM. It is asked for the path of a role, which the ARN of the caller lacks.

    Returns:
        An ARN. ``None`` for callers that have no policies of their own, such as the root user.
    """
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 optional

    parts = identity.split(":", _STS_PARTS - 1)
    kind, _, name = parts[-1].partition("/")
    if kind == "user":
        return identity
    if kind != "assumed-role":
        return None
    role = name.partition("/")[0]
    try:
        return str(iam.get_role(RoleName=role)["Role"]["Arn"])
    except (BotoCoreError, ClientError):
        return f"{parts[0]}:{parts[1]}:iam::{parts[4]}:role/{role}"


def simulate(
    iam: Any, principal: str, actions: Sequence[str], resource: str
) -> dict[str, str] | Exception:
    """The decisions of the simulator by action: ``allowed``, ``explicitDeny``, ``implicitDeny``.

    Args:
        iam: client of IAM.
        principal: ARN of a user or role.
        actions: actions on one kind of resource.
        resource: ARN of the resource.

    Returns:
        The decisions, or the error of a simulator that may not be asked.
    """
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 optional

    pages = iam.get_paginator("simulate_principal_policy").paginate(
        PolicySourceArn=principal, ActionNames=list(actions), ResourceArns=[resource]
    )
    try:
        results = [it for page in pages for it in page["EvaluationResults"]]
    except (BotoCoreError, ClientError) as error:
        return error
    return {it["EvalActionName"]: it["EvalDecision"] for it in results}
