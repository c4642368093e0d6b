"""A table, a bus and a server of moto for the tests."""

from __future__ import annotations

from typing import Any
from urllib.request import Request, urlopen

from log_processing.delivery.clients import client
from log_processing.demo import resources

TABLE, BUS = "logs", "alerts"


def reset(endpoint: str) -> None:
    """Delete everything that a server of moto has."""
    with urlopen(Request(f"{endpoint}/moto-api/reset", method="POST")):
        pass


def create_table(endpoint: str, name: str = TABLE) -> None:
    """The table of the application."""
    resources.create_table(client("dynamodb", "us-east-1", endpoint), name)


def create_bus(endpoint: str, name: str = BUS) -> None:
    """The bus, with an archive whose number of events can be read."""
    events = client("events", "us-east-1", endpoint)
    bus = events.create_event_bus(Name=name)["EventBusArn"]
    events.create_archive(ArchiveName=name, EventSourceArn=bus)


def items(endpoint: str, name: str = TABLE) -> list[dict[str, Any]]:
    """All items of the table."""
    pages = client("dynamodb", "us-east-1", endpoint).get_paginator("scan")
    return [item for page in pages.paginate(TableName=name) for item in page["Items"]]


def published(endpoint: str, name: str = BUS) -> int:
    """The number of events that the bus received."""
    archive = client("events", "us-east-1", endpoint).describe_archive(ArchiveName=name)
    count: int = archive["EventCount"]
    return count
