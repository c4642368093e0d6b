"""Calls that are tried before the query starts. A failure says what to change."""

from __future__ import annotations

from typing import Any, Callable

from log_processing.delivery.aws_errors import (
    error_code,
    is_denied,
    missing_setting,
    passing_reason,
)

_NOT_FOUND = "ResourceNotFoundException"


class ProblemError(Exception):
    """A call failed. The message says what to change.

    Attributes:
        may_pass: whether the call may succeed later: throttling, or a service that does not answer.
        is_missing: whether the resource does not exist.
        is_refused: whether the service refused the request for another reason than a permission.
    """

    def __init__(
        self,
        text: str,
        *,
        may_pass: bool = False,
        is_missing: bool = False,
        is_refused: bool = False,
    ) -> None:
        """Keep the message and the kind."""
        super().__init__(text)
        self.may_pass, self.is_missing, self.is_refused = may_pass, is_missing, is_refused


def checked(what: str, action: str, call: Callable[..., Any], **request: Any) -> Any:
    """Make a call and return its answer.

    Args:
        what: kind and name of what it is about.
        action: action of IAM that it needs.
        call: method of a client.
        request: arguments of the method.

    Raises:
        ProblemError: if the call fails.
        BotoCoreError: if the AWS SDK has no region or no credentials.
    """
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 slow to load

    try:
        return call(**request)
    except ClientError as error:
        raise _refusal(what, action, error) from error
    except BotoCoreError as error:
        if missing_setting(error):  # it is the same for each call
            raise
        may_pass = passing_reason(error) is not None
        raise ProblemError(f"{what}: {action} failed: {error}", may_pass=may_pass) from error


def _refusal(what: str, action: str, error: Exception) -> ProblemError:
    if is_denied(error):
        return ProblemError(f"{what}: access is denied. Allow {action} on it.")
    if error_code(error) == "KMSAccessDeniedException":
        text = f"{what}: access to its KMS key is denied. Allow kms:Decrypt on the key."
        return ProblemError(text)
    if error_code(error) == _NOT_FOUND:
        text = f"{what} does not exist. Check its name, the region and the account."
        return ProblemError(text, is_missing=True)
    may_pass = passing_reason(error) is not None
    return ProblemError(f"{what}: {error}", may_pass=may_pass, is_refused=not may_pass)


def problems_of(check: Callable[[], object]) -> list[ProblemError]:
    """The problem that a check raises, if it raises one."""
    try:
        check()
    except ProblemError as problem:
        return [problem]
    return []
