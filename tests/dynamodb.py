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


def put_lease(client: Any, table: str, key: str, checkpoint: str, sub: int = 0) -> None:
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
        },
    )


def leases(client: Any, table: str) -> dict[str, tuple[str, int]]:
    """Checkpoint and number of the user record, by key."""
    items = client.scan(TableName=table, ConsistentRead=True)["Items"]
    return {
        it["leaseKey"]["S"]: (
            it["checkpoint"]["S"],
            int(it["checkpointSubSequenceNumber"]["N"]),
        )
        for it in items
    }
