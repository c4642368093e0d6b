"""Which errors of AWS may pass, and which do not."""

from __future__ import annotations

from typing import Any

_SERVER_ERROR = 500
_PASSING = frozenset(
    {
        "InternalException",
        "InternalFailure",
        "InternalServerError",
        "LimitExceededException",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "RequestTimeout",
        "RequestTimeoutException",
        "ServiceUnavailable",
        "ServiceUnavailableException",
        "SlowDown",
        "Throttling",
        "ThrottlingException",
        "ThrottledException",
        "TooManyRequestsException",
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


def error_code(error: Any) -> str:
    """The code of an error that a service returned, such as ``ThrottlingException``."""
    return str(getattr(error, "response", {}).get("Error", {}).get("Code", ""))
