"""Which errors of AWS may pass, and which do not."""

from __future__ import annotations

from typing import Any

_SERVER_ERROR = 500
_DENIED = frozenset(
    {"AccessDenied", "AccessDeniedException", "NotAuthorized", "UnauthorizedOperation"}
)
_THROTTLED = frozenset(
    {
        "KMSThrottlingException",
        "LimitExceededException",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "SlowDown",
        "Throttling",
        "ThrottlingException",
        "ThrottledException",
        "TooManyRequestsException",
    }
)
_PASSING = _THROTTLED | frozenset(
    {
        "InternalException",
        "InternalFailure",
        "InternalServerError",
        "RequestTimeout",
        "RequestTimeoutException",
        "ServiceUnavailable",
        "ServiceUnavailableException",
    }
)


def passing_reason(error: Exception) -> str | None:
    """The reason of an error that may pass, such as throttling or a lost connection.

    Returns ``None`` for any other error.
    """
    from botocore import exceptions, parsers  # noqa: PLC0415 slow to load

    if isinstance(error, exceptions.ClientError):
        status = int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
        is_passing = status >= _SERVER_ERROR or error_code(error) in _PASSING
        return str(error) if is_passing else None
    lost = (
        exceptions.ConnectionError,
        exceptions.HTTPClientError,
        exceptions.IncompleteReadError,
        parsers.ResponseParserError,
    )
    if isinstance(error, lost):
        return f"{type(error).__name__}: {error}"
    return None


def is_invalid_request(error: Exception) -> bool:
    """Whether a service refused a request because of what it contains."""
    return error_code(error) == "ValidationException"


def is_denied(error: Exception) -> bool:
    """Whether the credentials lack a permission."""
    return error_code(error) in _DENIED


def is_throttled(error: Exception) -> bool:
    """Whether a service refused a request because there were too many."""
    return error_code(error) in _THROTTLED


def missing_setting(error: Exception) -> str | None:
    """What to set if the AWS SDK has no region or no credentials, otherwise ``None``."""
    from botocore import exceptions  # noqa: PLC0415 slow to load

    if isinstance(error, exceptions.NoRegionError):
        return "No AWS region. Set --region or LOG_REGION."
    if isinstance(error, exceptions.NoCredentialsError):
        return "No AWS credentials. Set them as the AWS SDK expects, for example with AWS_PROFILE."
    return None


def error_code(error: Any) -> str:
    """The code of an error that a service returned, such as ``ThrottlingException``."""
    return str(getattr(error, "response", {}).get("Error", {}).get("Code", ""))
