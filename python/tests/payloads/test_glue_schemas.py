"""The schemas of a registry, from a client whose answers have the shape of the service's model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.stub import Stubber

from spark_kinesis import SparkKinesisError, payloads
from spark_kinesis.payloads import _registry

if TYPE_CHECKING:
    from collections.abc import Iterator

OF_ORDERS = {"SchemaId": {"SchemaName": "orders", "RegistryName": "shop"}}


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stubber]:
    keys = {"aws_access_key_id": "local", "aws_secret_access_key": "local"}
    client: Any = boto3.client("glue", region_name="us-east-1", **keys)
    monkeypatch.setattr(_registry, "client", lambda *_, **__: client)
    with Stubber(client) as stubber:
        yield stubber


def version(number: int, status: str = "AVAILABLE") -> dict[str, object]:
    """A version in the list of the service."""
    return {"SchemaVersionId": f"{number:036}", "VersionNumber": number, "Status": status}


def test_all_usable_versions_the_latest_last(service: Stubber) -> None:
    pages: list[dict[str, Any]] = [
        {"Schemas": [version(3), version(2, "FAILURE")], "NextToken": "more"},
        {"Schemas": [version(1)]},
    ]
    service.add_response("list_schema_versions", pages[0], OF_ORDERS)
    service.add_response("list_schema_versions", pages[1], {**OF_ORDERS, "NextToken": "more"})
    for number in (1, 3):
        answer = {"SchemaDefinition": f"schema {number}"}
        service.add_response("get_schema_version", answer, {"SchemaVersionId": f"{number:036}"})
    found = payloads.glue_schemas("orders", "shop", region="us-east-1")
    assert list(found.items()) == [(f"{n:036}", f"schema {n}") for n in (1, 3)]


def test_an_error_names_the_schema_and_the_registry(service: Stubber) -> None:
    service.add_client_error("list_schema_versions", "EntityNotFoundException")
    with pytest.raises(SparkKinesisError, match=r"schema orders of the registry shop: .*NotFound"):
        payloads.glue_schemas("orders", "shop")
