"""Clients of AWS: one per process, service and configuration. Threads may share a client."""

from __future__ import annotations

from functools import cache
from typing import Any
from urllib.parse import urlsplit

_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_CONNECT_SECONDS, _ANSWER_SECONDS = 5, 20


def is_local(endpoint: str | None) -> bool:
    """Whether an endpoint is on this machine. It then needs no credentials."""
    return endpoint is not None and urlsplit(endpoint).hostname in _LOOPBACK


@cache
def client(
    service: str,
    region: str | None = None,
    endpoint: str | None = None,
    connections: int = 10,
    attempts: int = 1,
) -> Any:
    """A client that this process reuses.

    Args:
        service: ``dynamodb``, ``events`` or ``kinesis``.
        region: AWS region. Default: from the AWS SDK.
        endpoint: URL of the service. Default: AWS.
        connections: maximum number of open connections.
        attempts: how often the SDK makes a call that fails for a while. The writers decide
            themselves what to send again, and so have 1.
    """
    import boto3  # noqa: PLC0415 slow to load

    keys = {"aws_access_key_id": "local", "aws_secret_access_key": "local"}
    session = boto3.Session(
        region_name=region or ("us-east-1" if is_local(endpoint) else None),
        **(keys if is_local(endpoint) else {}),
    )
    config = _config(endpoint, connections, attempts)
    return session.client(service, endpoint_url=endpoint, config=config)


def _config(endpoint: str | None, connections: int, attempts: int) -> Any:
    from botocore.config import Config  # noqa: PLC0415 slow to load

    return Config(
        connect_timeout=_CONNECT_SECONDS,
        read_timeout=_ANSWER_SECONDS,
        max_pool_connections=connections,
        parameter_validation=False,  # the writers build what the service expects
        proxies={} if is_local(endpoint) else None,
        retries={"total_max_attempts": attempts, "mode": "standard"},
        tcp_keepalive=True,
    )
