"""Leases of the Kinesis Client Library, in the form of its table."""

from __future__ import annotations

from datetime import datetime, timezone
from types import SimpleNamespace
from typing import Any

import pytest

from python.tests.migrate.streams import after
from spark_kinesis import MigrationError
from spark_kinesis.tools.handover.leases import (
    Lease,
    LeaseKey,
    by_stream,
    kcl_streams,
    read_key,
    read_lease,
    scan_leases,
    stops_of_leases,
)
from spark_kinesis.tools.handover.positions import SHARD_END, TRIM_HORIZON, Stop, StopKind

CREATED = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc)
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
        key=LeaseKey(shard="shardId-000000000001"),
        checkpoint="123",
        sub=4,
        counter=17,
        owner="worker",
    )


def test_the_key_of_an_application_with_several_streams() -> None:
    key = read_key(SEVERAL)
    assert key == LeaseKey(
        shard="shardId-000000000001", stream="orders", account="123456789012", created=1767323045
    )
    assert key.prefix + key.shard == SEVERAL
    assert read_key("shardId-000000000001").prefix == ""
    assert read_key("a:b:c:shard") == LeaseKey(shard="a:b:c:shard")


def test_other_items_are_no_leases() -> None:
    assert read_lease({"leaseKey": {"S": "Migration3.0"}, "cv": {"S": "x"}}) is None
    of_kcl_35 = item("shard-1", "7", entityType={"S": "LEASE"})
    assert read_lease(of_kcl_35) == lease("shard-1", "7")
    assert read_lease(item("shard-1", "7", entityType={"S": "STREAM"})) is None


def test_checkpoints() -> None:
    words = ["TRIM_HORIZON", "LATEST", "SHARD_END", "AT_TIMESTAMP"]
    leases = [lease(f"shard-{number}", word) for number, word in enumerate(words)]
    found = stops_of_leases([*leases, lease("shard-4", "123", 5)], "app", CREATED)
    assert list(found.values()) == [
        TRIM_HORIZON,
        Stop(kind=StopKind.LATEST),
        SHARD_END,
        Stop(kind=StopKind.AT_TIME, time=CREATED),
        after(123, 5),
    ]


@pytest.mark.parametrize(
    ("checkpoint", "says"),
    [
        ("AT_TIMESTAMP", "the lease of shard-0 in table app: AT_TIMESTAMP has no time.*--at TIME"),
        ("half", "the lease of shard-0 in table app: 'half' is not a sequence number"),
    ],
)
def test_other_checkpoints_are_refused(checkpoint: str, says: str) -> None:
    with pytest.raises(MigrationError, match=says):
        stops_of_leases([lease("shard-0", checkpoint)], "app", None)


def test_the_stream_of_a_lease() -> None:
    one, several = lease("shard-0", "1"), lease(SEVERAL, "1")
    assert by_stream([one], "app", "orders") == {"orders": [one]}
    assert by_stream([several], "app", None) == {"orders": [several]}
    arn = "arn:aws:kinesis:eu-west-1:123456789012:stream/orders"
    assert by_stream([several], "app", arn) == {arn: [several]}


@pytest.mark.parametrize(
    ("key", "stream", "says"),
    [
        ("shard-0", None, "name it with --stream"),
        (SEVERAL, "refunds", "no lease of stream refunds. It has leases of orders"),
        (None, "orders", "no lease of the Kinesis Client Library"),
    ],
)
def test_a_stream_without_leases_is_refused(key: str | None, stream: str | None, says: str) -> None:
    with pytest.raises(MigrationError, match=says):
        by_stream([] if key is None else [lease(key, "1")], "app", stream)


class Table:
    """A client of DynamoDB with a table of several pages."""

    def __init__(self, *pages: list[dict[str, Any]]) -> None:
        self.pages, self.asked = pages, [dict[str, Any]()][1:]
        self.exceptions = SimpleNamespace(ResourceNotFoundException=KeyError)
        self.meta = SimpleNamespace(region_name="eu-west-1", partition="aws")

    def scan(self, **request: Any) -> dict[str, Any]:
        self.asked.append(request)
        if not self.pages:
            raise KeyError
        number = request.get("ExclusiveStartKey", 0)
        answer = {"Items": self.pages[number], "ConsumedCapacity": {"CapacityUnits": 25.0}}
        is_last = number + 1 == len(self.pages)
        return answer if is_last else {**answer, "LastEvaluatedKey": number + 1}


def test_a_table_is_read_no_faster_than_its_capacity() -> None:
    table = Table([item("shard-0", "1")], [item("shard-1", "2")], [{"leaseKey": {"S": "x"}}])
    slept: list[float] = []
    found = scan_leases(table, "app", 10.0, slept.append)
    assert [it.key.shard for it in found] == ["shard-0", "shard-1"]
    assert slept == [2.5, 2.5]
    assert all(it["ConsistentRead"] and it["TableName"] == "app" for it in table.asked)


def test_a_table_that_is_not_there_is_named() -> None:
    with pytest.raises(MigrationError, match="no table app in eu-west-1"):
        scan_leases(Table(), "app")


def test_a_stream_of_another_account_has_an_arn() -> None:
    client: Any = Table()
    (found,) = kcl_streams([lease(SEVERAL, "1")], "app", client, None, None)
    assert found.stream == "arn:aws:kinesis:eu-west-1:123456789012:stream/orders"
    assert found.created == CREATED
    assert found.stops == {"shardId-000000000001": after(1, 0)}


def test_a_creation_time_that_the_application_has_made_up() -> None:
    kinesis: Any = SimpleNamespace(meta=SimpleNamespace(partition="aws", region_name="eu-west-1"))
    made_up = lease("123456789012:orders:1767323045000:shard-0", "1")
    assert made_up.key.prefix == "123456789012:orders:1767323045000:"
    with pytest.raises(MigrationError, match=r"1767323045000 .*--ignore-creation-time"):
        kcl_streams([made_up], "app", kinesis, None, None)
    leases = [made_up, lease("123456789012:orders:1767323045000:shard-1", "2")]
    (found,) = kcl_streams(leases, "app", kinesis, None, None, ignore_creation_time=True)
    assert (found.created, list(found.stops)) == (None, ["shard-0", "shard-1"])


def test_leases_of_two_streams_with_the_same_name_are_refused() -> None:
    kinesis: Any = SimpleNamespace(meta=SimpleNamespace(partition="aws", region_name="eu-west-1"))
    leases = [lease(SEVERAL, "1"), lease(SEVERAL.replace("1767323045", "17"), "1")]
    with pytest.raises(MigrationError, match=r"with the name orders: .*:17[.,] .*Delete"):
        kcl_streams(leases, "app", kinesis, None, None)
