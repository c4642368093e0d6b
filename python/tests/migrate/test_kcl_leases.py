"""Leases of the Kinesis Client Library, in the form of its table."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from python.tests.migrate.streams import LATEST, SHARD_END, TRIM_HORIZON, after
from spark_kinesis import MigrationError
from spark_kinesis.tools.handover.leases import (
    Lease,
    kcl_stops,
    read_lease,
    scan_leases,
)

SEVERAL = "123456789012:orders:1767323045:shardId-000000000001"


def item(key: str, checkpoint: str, sub: int = 0, **more: Any) -> dict[str, Any]:
    return {
        "leaseKey": {"S": key},
        "leaseOwner": {"S": "worker"},
        "leaseCounter": {"N": "17"},
        "checkpoint": {"S": checkpoint},
        "checkpointSubSequenceNumber": {"N": str(sub)},
        "ownerSwitchesSinceCheckpoint": {"N": "0"},
        **more,
    }


def lease(key: str, checkpoint: str, sub: int = 0) -> Lease:
    found = read_lease(item(key, checkpoint, sub))
    assert found is not None
    return found


def test_a_lease() -> None:
    assert lease("shardId-000000000001", "123", 4) == Lease(
        key="shardId-000000000001",
        shard="shardId-000000000001",
        stream=None,
        account=None,
        checkpoint="123",
        sub=4,
        counter=17,
        owner="worker",
    )


def test_the_key_of_an_application_with_several_streams() -> None:
    found = lease(SEVERAL, "1")
    assert (found.account, found.stream) == ("123456789012", "orders")
    assert (found.shard, found.prefix) == (
        "shardId-000000000001",
        "123456789012:orders:1767323045:",
    )
    assert (lease("a:b:c:shard", "1").shard, lease("shard-1", "1").prefix) == ("a:b:c:shard", "")


def test_other_items_are_no_leases() -> None:
    assert read_lease({"leaseKey": {"S": "Migration3.0"}, "cv": {"S": "x"}}) is None
    of_kcl_35 = item("shard-1", "7", entityType={"S": "LEASE"})
    assert read_lease(of_kcl_35) == lease("shard-1", "7")
    assert read_lease(item("shard-1", "7", entityType={"S": "STREAM"})) is None


def stops(*leases: Lease, stream: str | None = "orders") -> Any:
    kinesis: Any = SimpleNamespace(meta=SimpleNamespace(partition="aws", region_name="eu-west-1"))
    return kcl_stops(leases, "app", kinesis, stream)


def test_checkpoints() -> None:
    words = ["TRIM_HORIZON", "LATEST", "SHARD_END", "AT_TIMESTAMP"]
    leases = [lease(f"shard-{number}", word) for number, word in enumerate(words)]
    found = stops(*leases, lease("shard-4", "123", 5))["orders"]
    assert list(found.values()) == [TRIM_HORIZON, LATEST, SHARD_END, LATEST, after(123, 5)]
    with pytest.raises(MigrationError, match="the lease of shard-0 in table app: 'half' is not"):
        stops(lease("shard-0", "half"))


def test_the_stream_of_a_lease() -> None:
    arn = "arn:aws:kinesis:eu-west-1:123456789012:stream/orders"
    several = lease(SEVERAL, "1")
    for stream, name in ((None, arn), (arn, arn), ("orders", "orders")):
        assert stops(several, stream=stream) == {name: {"shardId-000000000001": after(1, 0)}}


@pytest.mark.parametrize(
    ("key", "stream", "says"),
    [
        ("shard-0", None, "name it with --stream"),
        (SEVERAL, "refunds", "no lease of stream refunds. It has leases of orders"),
        (None, "orders", "^table app has no leases$"),
        (None, None, "^table app has no leases$"),
    ],
)
def test_a_stream_without_leases_is_refused(key: str | None, stream: str | None, says: str) -> None:
    with pytest.raises(MigrationError, match=says):
        stops(*([] if key is None else [lease(key, "1")]), stream=stream)


def test_leases_of_two_streams_with_the_same_name_are_refused() -> None:
    leases = [lease(SEVERAL, "1"), lease(SEVERAL.replace("1767323045", "17"), "1")]
    with pytest.raises(MigrationError, match=r"two leases of .* with the key 1234.*:17:.*Delete"):
        stops(*leases, stream=None)


def test_a_table_that_is_not_there_is_named() -> None:
    client = boto3.client(
        "dynamodb", region_name="eu-west-1", aws_access_key_id="x", aws_secret_access_key="x"
    )
    with Stubber(client) as stub:
        stub.add_client_error("scan", "ResourceNotFoundException")
        with pytest.raises(MigrationError, match="no table app in eu-west-1"):
            scan_leases(client, "app")
