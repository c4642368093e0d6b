"""A DynamoDB of moto with lease tables."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import boto3
from moto.server import ThreadedMotoServer

TABLE = "orders-app"


@contextmanager
def moto_server() -> Iterator[str]:
    """The endpoint of a DynamoDB that lives as long as the context."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


def dynamodb(endpoint: str) -> Any:
    """A client of it."""
    return boto3.client(
        "dynamodb",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id="local",
        aws_secret_access_key="local",  # noqa: S106 no secret
    )


def lease_table(client: Any, name: str) -> None:
    """A table as the KCL creates it."""
    client.create_table(
        TableName=name,
        KeySchema=[{"AttributeName": "leaseKey", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "leaseKey", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )


def put_lease(
    client: Any, table: str, key: str, checkpoint: str, sub: int = 0, **more: Any
) -> None:
    """A lease in the form of the KCL."""
    client.put_item(
        TableName=table,
        Item={
            "leaseKey": {"S": key},
            "leaseOwner": {"S": "worker"},
            "leaseCounter": {"N": "17"},
            "checkpoint": {"S": checkpoint},
            "checkpointSubSequenceNumber": {"N": str(sub)},
            "ownerSwitchesSinceCheckpoint": {"N": "0"},
            **more,
        },
    )


# Items that KCL 3.5 keeps beside the leases if it has a single table.
OTHER_ITEMS: list[dict[str, Any]] = [
    {
        "leaseKey": {"S": "worker"},
        "entityType": {"S": "WORKER_METRIC_STATS"},
        "lut": {"N": "1795824000"},
        "sts": {"M": {"C": {"L": [{"N": "12.5"}]}}},
        "opr": {"M": {"C": {"L": [{"N": "100"}]}}},
        "sup": {"N": "1"},
        "slu": {"N": "1795824000"},
    },
    {
        "leaseKey": {"S": "Leader"},
        "entityType": {"S": "LEADER"},
        "ownerName": {"S": "worker"},
        "leaseDuration": {"S": "120000"},
        "recordVersionNumber": {"S": "d2b6"},
    },
    {
        "leaseKey": {"S": "TableMigration3.5"},
        "entityType": {"S": "TABLE_MIGRATION"},
        "tm": {"S": "TABLE_MIGRATION_STATUS_COMPLETE"},
    },
    {
        "leaseKey": {"S": "orders"},
        "entityType": {"S": "STREAM"},
        "streamId": {"S": "stream-1"},
    },
]


def single_table(client: Any, table: str) -> None:
    """Add the items that KCL 3.5 keeps beside the leases."""
    for item in OTHER_ITEMS:
        client.put_item(TableName=table, Item=item)


def leases(client: Any, table: str) -> dict[str, tuple[str, int]]:
    """Checkpoint and number of the user record, by key."""
    items = client.scan(TableName=table, ConsistentRead=True)["Items"]
    return {
        it["leaseKey"]["S"]: (
            it["checkpoint"]["S"],
            int(it["checkpointSubSequenceNumber"]["N"]),
        )
        for it in items
        if "checkpoint" in it
    }
