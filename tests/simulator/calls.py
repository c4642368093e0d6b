"""Calls to the local Kinesis with boto3."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

KEY_SPACE = 2**128
REGION = "us-east-1"


CALLED: list[str] = []
"""The operations that clients have called, in order."""


def client_of(
    endpoint: str,
    region: str = REGION,
    *,
    account: str = "any",
    checked: bool = True,
    retries: bool = True,
) -> Any:
    """A client for a region. Without ``checked`` it also sends wrong requests."""
    config = Config(parameter_validation=checked, proxies={})
    if not retries:
        config = config.merge(Config(retries={"total_max_attempts": 1}))
    client = boto3.client(
        "kinesis",
        endpoint_url=endpoint,
        region_name=region,
        aws_access_key_id=account,
        aws_secret_access_key="any",
        config=config,
    )
    client.meta.events.register("before-call.kinesis", lambda model, **_: CALLED.append(model.name))
    return client


def iterator(kinesis: Any, stream: str, shard: str, kind: str = "TRIM_HORIZON", **more: Any) -> str:
    """An iterator at the start of a shard."""
    answer = kinesis.get_shard_iterator(
        StreamName=stream, ShardId=shard, ShardIteratorType=kind, **more
    )
    return str(answer["ShardIterator"])


def read(kinesis: Any, stream: str, shard: str, **position: Any) -> list[dict[str, Any]]:
    """All records up to the tip or the end of the shard."""
    found: list[dict[str, Any]] = []
    token: str | None = iterator(kinesis, stream, shard, **position)
    while token:
        page = kinesis.get_records(ShardIterator=token)
        found += page["Records"]
        token = page.get("NextShardIterator")
        if not page["Records"] and page["MillisBehindLatest"] == 0:
            break
    return found


def shards(kinesis: Any, stream: str, **filter_: Any) -> list[dict[str, Any]]:
    """The shards of a stream."""
    more = {"ShardFilter": filter_} if filter_ else {}
    return list(kinesis.list_shards(StreamName=stream, **more)["Shards"])


def code_of(call: Callable[[], Any]) -> str:
    """The error code of a call that must fail."""
    with pytest.raises(ClientError) as raised:
        call()
    error = raised.value.response["Error"]
    assert error["Message"]
    return str(error["Code"])
